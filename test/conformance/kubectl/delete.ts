import { expect, test } from "vitest";
import type { Kubectl } from "./kubectl.ts";
import type { Suite } from "./suite.ts";

async function withMaps(kubectl: Kubectl): Promise<Kubectl> {
  const items = ["a", "b", "c"].map((name) => ({
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name, labels: { half: name < "b" ? "first" : "second" } },
  }));
  await kubectl.ok("create", "-f", kubectl.file("maps.json", { apiVersion: "v1", kind: "List", items }));
  return kubectl;
}

/** Since 1.34 kubectl says from which namespace. */
function deleted(what: string, kubectl: Kubectl): RegExp {
  return new RegExp(`^${what}( from ${kubectl.namespace} namespace)?\\n$`);
}

export function deleteClaims(suite: Suite): void {
  choices(suite);
  cascades(suite);
  pods(suite);
  namespaces(suite);
}

function choices({ namespace }: Suite): void {
  test("by name", async () => {
    const kubectl = await withMaps(namespace());

    expect(await kubectl.ok("delete", "configmap", "a")).toMatch(deleted('configmap "a" deleted', kubectl));
    expect(await kubectl.refused("delete", "configmap", "a")).toBe(
      'Error from server (NotFound): configmaps "a" not found\n',
    );
    expect(await kubectl.ok("delete", "configmap", "a", "--ignore-not-found")).toBe("");
  });

  test("by selector and --all", async () => {
    const kubectl = await withMaps(namespace());

    await kubectl.ok("delete", "configmaps", "-l", "half=second");
    expect(await kubectl.ok("get", "configmaps", "-l", "half", "-o", "name")).toBe("configmap/a\n");
    await kubectl.ok("delete", "configmaps", "--all");
    expect(await kubectl.ok("get", "configmaps", "-l", "half", "-o", "name")).toBe("");
  });

  test("by file", async () => {
    const kubectl = await withMaps(namespace());

    await kubectl.ok("delete", "-f", "maps.json");

    expect(await kubectl.ok("get", "configmaps", "-l", "half", "-o", "name")).toBe("");
  });

  test("a dry run deletes nothing", async () => {
    const kubectl = await withMaps(namespace());

    expect(await kubectl.ok("delete", "configmap", "a", "--dry-run=server")).toContain("(server dry run)");
    expect(await kubectl.ok("get", "configmap", "a", "-o", "name")).toBe("configmap/a\n");
  });
}

function cascades({ namespace }: Suite): void {
  test("--cascade=background removes the object at once", async () => {
    const kubectl = namespace();
    await kubectl.ok("create", "deployment", "d", "--image=i");

    await kubectl.ok("delete", "deployment", "d", "--cascade=background");

    expect(await kubectl.ok("get", "deployments", "-o", "name")).toBe("");
  });

  test.each([
    ["foreground", "foregroundDeletion"],
    ["orphan", "orphan"],
  ])("--cascade=%s marks the object for the garbage collector", async (cascade, finalizer) => {
    const kubectl = namespace();
    await kubectl.ok("create", "deployment", "d", "--image=i");

    await kubectl.ok("delete", "deployment", "d", `--cascade=${cascade}`, "--wait=false");

    expect((await kubectl.json("get", "deployment", "d"))["metadata"]).toMatchObject({
      deletionGracePeriodSeconds: 0,
      deletionTimestamp: expect.any(String) as unknown,
      finalizers: [finalizer],
      generation: 2,
    });
  });

  test("waits until the last finalizer is gone", async () => {
    const kubectl = namespace();
    const metadata = { name: "held", finalizers: ["example.com/hold"] };
    await kubectl.ok(
      "create",
      "-f",
      kubectl.file("held.json", { apiVersion: "v1", kind: "ConfigMap", metadata }),
    );
    await kubectl.ok("delete", "configmap", "held", "--wait=false");

    const waiting = kubectl.run("delete", "configmap", "held");
    const release = '{"metadata":{"finalizers":null}}';
    await kubectl.ok("patch", "configmap", "held", "--type=merge", "-p", release);

    // A kubectl that starts after the release finds nothing to delete.
    const { code, stderr } = await waiting;
    if (code !== 0) expect(stderr).toContain("not found");
    expect(await kubectl.refused("get", "configmap", "held")).toContain('configmaps "held" not found');
  });
}

function pods({ namespace }: Suite): void {
  test("a pod without a node goes at once, whatever its grace period", async () => {
    const kubectl = namespace();
    for (const name of ["a", "b"]) await kubectl.ok("run", name, "--image=i");

    await kubectl.ok("delete", "pod", "a");
    await kubectl.ok("delete", "pod", "b", "--now");

    expect(await kubectl.ok("get", "pods", "-o", "name")).toBe("");
  });

  test("a pod on a node is terminating until its grace period is over or it is forced", async () => {
    const kubectl = namespace();
    await kubectl.ok(
      "run",
      "p",
      "--image=i",
      "--overrides",
      '{"apiVersion":"v1","spec":{"nodeName":"anywhere"}}',
    );

    await kubectl.ok("delete", "pod", "p", "--wait=false");
    const row = await kubectl.ok("get", "pod", "p", "--no-headers");
    const { metadata } = await kubectl.json("get", "pod", "p");
    const { stdout, stderr } = await kubectl.run("delete", "pod", "p", "--force", "--grace-period=0");

    expect(row).toMatch(/^p +0\/1 +Terminating /);
    expect(metadata).toMatchObject({ deletionGracePeriodSeconds: 30 });
    expect(stderr).toMatch(/^[Ww]arning: Immediate deletion does not wait for confirmation/);
    expect(stdout).toMatch(deleted('pod "p" force deleted', kubectl));
    expect(await kubectl.ok("get", "pods", "-o", "name")).toBe("");
  });
}

function namespaces({ namespace }: Suite): void {
  test("a namespace is terminating while it has its finalizer, and takes nothing new", async () => {
    const kubectl = namespace();

    await kubectl.ok("delete", "namespace", kubectl.namespace, "--wait=false");

    expect(await kubectl.ok("get", "namespace", kubectl.namespace, "--no-headers")).toMatch(/ Terminating /);
    expect(await kubectl.refused("create", "configmap", "c")).toContain(
      'configmaps "c" is forbidden: unable to create new content in namespace ' +
        `${kubectl.namespace} because it is being terminated\n`,
    );
  });
}
