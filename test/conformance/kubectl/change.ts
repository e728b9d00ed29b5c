import { expect, test } from "vitest";
import type { Kubectl } from "./kubectl.ts";
import type { Suite } from "./suite.ts";

async function withDeployment(kubectl: Kubectl): Promise<Kubectl> {
  await kubectl.ok("create", "deployment", "d", "--image=img:1");
  return kubectl;
}

export function changeClaims(suite: Suite): void {
  edits(suite);
  replacements(suite);
  labels(suite);
  scales(suite);
}

/** An editor that replaces a piece of text. */
function editor(kubectl: Kubectl, from: string, to: string): Kubectl {
  const script = kubectl.file("editor.sh", `#!/bin/sh\nsed -i 's/${from}/${to}/' "$1"\n`);
  return kubectl.with({ EDITOR: kubectl.path(script) });
}

function edits({ namespace }: Suite): void {
  test("edit stores what the editor wrote", async () => {
    const kubectl = await withDeployment(namespace());

    const said = await editor(kubectl, "replicas: 1", "replicas: 4").ok("edit", "deployment", "d");

    expect(said).toBe("deployment.apps/d edited\n");
    expect(await kubectl.ok("get", "deployment", "d", "-o", "jsonpath={.spec.replicas}")).toBe("4");
  });

  test("edit without a change does nothing", async () => {
    const kubectl = await withDeployment(namespace());

    const { code, stdout, stderr } = await kubectl
      .with({ EDITOR: "/bin/true" })
      .run("edit", "deployment", "d");

    expect([code, stdout + stderr]).toEqual([0, "Edit cancelled, no changes made.\n"]);
  });

  test("edit keeps a copy of what is refused", async () => {
    const kubectl = await withDeployment(namespace());

    const said = await editor(kubectl, "replicas: 1", "replicas: -4").refused("edit", "deployment", "d");

    expect(said).toMatch(
      /^error: deployments\.apps "d" is invalid\nA copy of your changes has been stored to "\S+"\nerror: Edit cancelled, no valid changes were saved\.\n$/,
    );
  });
}

function replacements({ namespace }: Suite): void {
  test("replace stores the whole object, unless it is stale", async () => {
    const kubectl = await withDeployment(namespace());
    const deployment = await kubectl.json("get", "deployment", "d");
    const changed = { ...deployment, spec: { ...deployment["spec"], replicas: 7 } };
    const file = kubectl.file("d.json", changed);

    const replaced = await kubectl.ok("replace", "-f", file);
    const refused = await kubectl.refused("replace", "-f", file);

    expect(replaced).toBe("deployment.apps/d replaced\n");
    expect(await kubectl.ok("get", "deployment", "d", "-o", "jsonpath={.spec.replicas}")).toBe("7");
    expect(refused).toBe(
      'Error from server (Conflict): error when replacing "d.json": Operation cannot be fulfilled on ' +
        'deployments.apps "d": the object has been modified; please apply your changes to the latest version and try again\n',
    );
  });

  test("replace --force deletes the object and creates it anew", async () => {
    const kubectl = await withDeployment(namespace());
    const before = await kubectl.json("get", "deployment", "d");

    const said = await kubectl.ok("replace", "--force", "-f", kubectl.file("d.json", before));

    expect(said).toMatch(/^deployment\.apps "d" deleted.*\ndeployment\.apps\/d replaced\n$/);
    const after = await kubectl.json("get", "deployment", "d");
    expect(after["metadata"]?.["uid"]).not.toBe(before["metadata"]?.["uid"]);
    expect(after["spec"]).toEqual(before["spec"]);
  });

  test("replace needs something to replace", async () => {
    const kubectl = namespace();
    const file = kubectl.file("c.json", { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "c" } });

    expect(await kubectl.refused("replace", "-f", file)).toBe(
      'Error from server (NotFound): error when replacing "c.json": configmaps "c" not found\n',
    );
  });
}

function labels({ namespace }: Suite): void {
  test("label sets, keeps and removes labels", async () => {
    const kubectl = namespace();
    await kubectl.ok("create", "configmap", "c");

    expect(await kubectl.ok("label", "cm", "c", "a=1", "b=2")).toBe("configmap/c labeled\n");
    expect(await kubectl.refused("label", "cm", "c", "a=2")).toBe(
      "error: 'a' already has a value (1), and --overwrite is false\n",
    );
    await kubectl.ok("label", "cm", "c", "a=2", "--overwrite");
    expect(await kubectl.ok("label", "cm", "c", "b-")).toMatch(/^configmap\/c (un)?labeled\n$/);
    expect((await kubectl.json("get", "cm", "c"))["metadata"]?.["labels"]).toEqual({ a: "2" });
  });

  test("annotate sets, keeps and removes annotations", async () => {
    const kubectl = namespace();
    await kubectl.ok("create", "configmap", "c");

    expect(await kubectl.ok("annotate", "cm", "c", "note=hello world", "x=y")).toMatch(
      /^configmap\/c annotated?\n$/,
    );
    expect(await kubectl.refused("annotate", "cm", "c", "note=bye")).toContain(
      "'note' already has a value (hello world)",
    );
    await kubectl.ok("annotate", "cm", "c", "note=bye", "--overwrite");
    await kubectl.ok("annotate", "cm", "c", "x-");
    expect((await kubectl.json("get", "cm", "c"))["metadata"]?.["annotations"]).toEqual({ note: "bye" });
  });

  test("label by selector and --all reaches every object", async () => {
    const kubectl = namespace();
    for (const name of ["a", "b"]) await kubectl.ok("create", "configmap", name);

    expect(await kubectl.ok("label", "cm", "--all", "x=y")).toBe(
      "configmap/a labeled\nconfigmap/b labeled\n",
    );
    expect(await kubectl.ok("annotate", "cm", "-l", "x=y", "z=1")).toMatch(
      /^configmap\/a annotated?\nconfigmap\/b annotated?\n$/,
    );
  });
}

function scales({ namespace }: Suite): void {
  test("scale sets the number of replicas, if it was what was expected", async () => {
    const kubectl = await withDeployment(namespace());

    expect(await kubectl.ok("scale", "deployment", "d", "--replicas=3")).toBe("deployment.apps/d scaled\n");
    expect(await kubectl.refused("scale", "deployment", "d", "--replicas=5", "--current-replicas=9")).toMatch(
      /[Ee]xpected replicas to be 9, was 3\n$/,
    );
    await kubectl.ok("scale", "deployment", "d", "--replicas=5", "--current-replicas=3");
    expect(await kubectl.ok("get", "deployment", "d", "-o", "jsonpath={.spec.replicas}")).toBe("5");
  });

  test("scale to zero is a value", async () => {
    const kubectl = await withDeployment(namespace());

    await kubectl.ok("scale", "deployment", "d", "--replicas=0");

    expect(await kubectl.ok("get", "deployment", "d", "-o", "jsonpath={.spec.replicas}")).toBe("0");
  });

  test("scale of a kind that has none is refused", async () => {
    const kubectl = namespace();
    await kubectl.ok("create", "configmap", "c");

    expect(await kubectl.refused("scale", "configmap", "c", "--replicas=1")).toContain(
      "the server could not find the requested resource",
    );
  });
}
