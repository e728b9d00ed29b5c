import { expect, onTestFinished, test } from "vitest";
import type { Kubectl } from "./kubectl.ts";
import type { Suite } from "./suite.ts";

interface Drained {
  readonly kubectl: Kubectl;
  readonly node: string;
  /** Arguments that make `kubectl drain` evict only this test's pods, because all tests share the nodes. */
  readonly drain: readonly string[];
}

/** A deployment named like its namespace, and the node of one of its two pods. */
async function withNode(kubectl: Kubectl): Promise<Drained> {
  const name = kubectl.namespace;
  await kubectl.ok("create", "deployment", name, "--image=nginx:1", "--replicas=2");
  await kubectl.ok("rollout", "status", `deployment/${name}`, "--timeout=15s");
  const node = await kubectl.ok("get", "pods", "-o", "jsonpath={.items[0].spec.nodeName}");
  onTestFinished(async () => void (await kubectl.ok("uncordon", node)));
  return { kubectl, node, drain: ["drain", node, `--pod-selector=app=${name}`, "--timeout=4s"] };
}

function nodesOf(kubectl: Kubectl): Promise<string> {
  return kubectl.ok("get", "pods", "-o", "jsonpath={.items[*].spec.nodeName}");
}

export function drainClaims({ namespace, since }: Suite): void {
  test("drain moves the pods of a node elsewhere and lets no new ones in", async () => {
    const { kubectl, node, drain } = await withNode(namespace());

    const said = await kubectl.ok(...drain);
    await kubectl.ok("rollout", "status", `deployment/${kubectl.namespace}`, "--timeout=15s");

    expect(said).toContain(`node/${node} drained\n`);
    expect(await kubectl.ok("get", "node", node, "--no-headers")).toMatch(/ Ready,SchedulingDisabled /);
    expect((await nodesOf(kubectl)).split(" ")).not.toContain(node);
  });

  since(23)("drain does not go below a disruption budget", async () => {
    const { kubectl, node, drain } = await withNode(namespace());
    const app = `--selector=app=${kubectl.namespace}`;
    await kubectl.ok("create", "poddisruptionbudget", "all", app, "--min-available=2");
    const healthy = "--for=jsonpath={.status.currentHealthy}=2";
    await kubectl.ok("wait", "poddisruptionbudget/all", healthy, "--timeout=15s");

    const refusal = await kubectl.refused(...drain);

    expect(refusal).toContain("Cannot evict pod as it would violate the pod's disruption budget.");
    expect((await nodesOf(kubectl)).split(" ")).toContain(node);
  });
}
