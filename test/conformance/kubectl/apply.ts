import { expect, test } from "vitest";
import type { JsonValue, Kubectl } from "./kubectl.ts";
import type { Suite } from "./suite.ts";

const FIRST = `apiVersion: v1
kind: ConfigMap
metadata: {name: c, labels: {app: x}}
data: {k: "1", gone: "x"}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: d, labels: {app: x}}
spec:
  replicas: 1
  selector: {matchLabels: {app: x}}
  template:
    metadata: {labels: {app: x}}
    spec:
      containers:
      - {name: main, image: "img:1", ports: [{containerPort: 80}]}
      - {name: side, image: "side:1"}
`;
const SECOND = FIRST.replace('k: "1", gone: "x"', 'k: "2"').replace("img:1", "img:2");
const LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration";

function map(k: string): string {
  return `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\ndata: {k: "${k}"}\n`;
}

/** The ConfigMap from the server's response: some kubectl versions hide managed fields, others always show them. */
async function served(kubectl: Kubectl): Promise<JsonValue> {
  const path = `/api/v1/namespaces/${kubectl.namespace}/configmaps/c`;
  return JSON.parse(await kubectl.ok("get", "--raw", path)) as JsonValue;
}

export function applyClaims(suite: Suite): void {
  clientSide(suite);
  diffs(suite);
  serverSide(suite);
  pruning(suite);
}

function clientSide({ namespace }: Suite): void {
  test("creates, then finds nothing to do, then changes and removes what the file no longer has", async () => {
    const kubectl = namespace();
    const first = kubectl.file("first.yaml", FIRST);
    const second = kubectl.file("second.yaml", SECOND);

    const said = [
      await kubectl.ok("apply", "-f", first),
      await kubectl.ok("apply", "-f", first),
      await kubectl.ok("apply", "-f", second),
    ];

    expect(said).toEqual([
      "configmap/c created\ndeployment.apps/d created\n",
      "configmap/c unchanged\ndeployment.apps/d unchanged\n",
      "configmap/c configured\ndeployment.apps/d configured\n",
    ]);
    expect((await kubectl.json("get", "cm", "c"))["data"]).toEqual({ k: "2" });
    const deployment = await kubectl.json("get", "deployment", "d");
    expect(deployment).toMatchObject({
      metadata: { generation: 2 },
      spec: {
        template: {
          spec: {
            containers: [
              { name: "main", image: "img:2", ports: [{ containerPort: 80, protocol: "TCP" }] },
              { name: "side", image: "side:1" },
            ],
          },
        },
      },
    });
    expect(deployment["metadata"]?.["annotations"]?.[LAST_APPLIED]).toContain("img:2");
  });

  test("leaves alone what others wrote", async () => {
    const kubectl = namespace();
    await kubectl.ok("apply", "-f", kubectl.file("first.yaml", FIRST));
    await kubectl.ok("scale", "deployment", "d", "--replicas=4");
    await kubectl.ok("label", "deployment", "d", "added=yes");
    const withoutReplicas = SECOND.replace("  replicas: 1\n", "  replicas: 1\n  paused: true\n");

    await kubectl.ok("apply", "-f", kubectl.file("second.yaml", withoutReplicas));

    expect(await kubectl.json("get", "deployment", "d")).toMatchObject({
      metadata: { labels: { app: "x", added: "yes" } },
      spec: { replicas: 1, paused: true },
    });
  });

  test("a dry run on the server changes nothing", async () => {
    const kubectl = namespace();
    await kubectl.ok("apply", "-f", kubectl.file("first.yaml", FIRST));

    const said = await kubectl.ok("apply", "-f", kubectl.file("second.yaml", SECOND), "--dry-run=server");

    expect(said).toBe(
      "configmap/c configured (server dry run)\ndeployment.apps/d configured (server dry run)\n",
    );
    expect((await kubectl.json("get", "cm", "c"))["data"]).toEqual({ k: "1", gone: "x" });
  });
}

function diffs({ namespace }: Suite): void {
  test("diff shows what apply would change, and ends with 1 when there is something", async () => {
    const kubectl = namespace();
    await kubectl.ok("apply", "-f", kubectl.file("first.yaml", FIRST));

    const second = kubectl.file("second.yaml", SECOND);
    const { code, stdout } = await kubectl.run("diff", "-f", second);
    await kubectl.ok("apply", "-f", second);

    expect(code).toBe(1);
    expect(stdout).toMatch(
      /\n-- {6}image: img:1\n\+- {6}image: img:2\n|\n- {6}- image: img:1\n\+ {6}- image: img:2\n/,
    );
    expect(stdout).toMatch(/\n- {2}generation: 1\n\+ {2}generation: 2\n/);
    expect(stdout).toMatch(/\n- {2}gone: x\n- {2}k: "1"\n\+ {2}k: "2"\n/);
    expect(await kubectl.ok("diff", "-f", second)).toBe("");
  });
}

function serverSide({ namespace }: Suite): void {
  test("--server-side creates and owns what it sends", async () => {
    const kubectl = namespace();
    const file = kubectl.file("map.yaml", map("1"));

    const said = [
      await kubectl.ok("apply", "--server-side", "-f", file),
      await kubectl.ok("apply", "--server-side", "-f", file),
    ];

    expect(said).toEqual(["configmap/c serverside-applied\n", "configmap/c serverside-applied\n"]);
    const { metadata } = await served(kubectl);
    expect(metadata?.["managedFields"]).toMatchObject([
      { manager: "kubectl", operation: "Apply", fieldsV1: { "f:data": { "f:k": {} } } },
    ]);
    expect(metadata?.["annotations"]).toBeUndefined();
  });

  test("a field of another manager is a conflict, unless it is forced", async () => {
    const kubectl = namespace();
    await kubectl.ok("apply", "--server-side", "-f", kubectl.file("one.yaml", map("1")));
    const other = [
      "apply",
      "--server-side",
      "-f",
      kubectl.file("two.yaml", map("2")),
      "--field-manager=other",
    ];

    const conflict = await kubectl.refused(...other);
    const forced = await kubectl.ok(...other, "--force-conflicts");

    expect(conflict).toMatch(
      /^error: Apply failed with 1 conflict: conflict with "kubectl": \.data\.k\nPlease review the fields above/,
    );
    expect(forced).toBe("configmap/c serverside-applied\n");
    const { data, metadata } = await served(kubectl);
    expect(data).toEqual({ k: "2" });
    expect(metadata?.["managedFields"]).toMatchObject([{ manager: "other", operation: "Apply" }]);
  });

  test("an object applied by the client is taken over", async () => {
    const kubectl = namespace();
    const first = kubectl.file("first.yaml", FIRST);
    await kubectl.ok("apply", "-f", first);

    expect(await kubectl.ok("apply", "--server-side", "-f", kubectl.file("second.yaml", SECOND))).toBe(
      "configmap/c serverside-applied\ndeployment.apps/d serverside-applied\n",
    );
    const { data, metadata } = await kubectl.json("get", "cm", "c");
    expect(data).toMatchObject({ k: "2" });
    expect(metadata?.["annotations"]?.[LAST_APPLIED]).toContain('"data":{"k":"2"}');
  });

  test("what an applier gives up is removed", async () => {
    const kubectl = namespace();
    const both = map("1").replace("{k:", '{other: "x", k:');
    await kubectl.ok("apply", "--server-side", "-f", kubectl.file("both.yaml", both));

    await kubectl.ok("apply", "--server-side", "-f", kubectl.file("one.yaml", map("1")));

    expect((await kubectl.json("get", "cm", "c"))["data"]).toEqual({ k: "1" });
  });
}

function pruning({ namespace, since }: Suite): void {
  since(26)("--prune deletes what the set no longer has", async () => {
    const kubectl = namespace();
    const one = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: keep, labels: {set: one}}\n";
    const both = `${one}---\n${one.replace("keep", "drop")}`;
    await kubectl.ok("apply", "-f", kubectl.file("both.yaml", both));
    await kubectl.ok("create", "configmap", "never-applied");
    await kubectl.ok("label", "configmap", "never-applied", "set=one");

    const prune = ["--prune", "-l", "set=one", "--prune-allowlist=core/v1/ConfigMap"];
    const said = await kubectl.ok("apply", "-f", kubectl.file("one.yaml", one), ...prune);

    expect(said).toBe("configmap/keep unchanged\nconfigmap/drop pruned\n");
    expect(await kubectl.ok("get", "cm", "-l", "set=one", "-o", "name")).toBe(
      "configmap/keep\nconfigmap/never-applied\n",
    );
  });
}
