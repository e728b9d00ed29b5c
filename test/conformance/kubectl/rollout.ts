import { expect, test } from "vitest";
import type { Kubectl } from "./kubectl.ts";
import type { Suite } from "./suite.ts";
import { podNames, withDeployment } from "./workload.ts";

const DONE = 'deployment "web" successfully rolled out\n';

/** Two rollouts, each with a change cause. */
async function withHistory(kubectl: Kubectl): Promise<Kubectl> {
  await withDeployment(kubectl);
  await kubectl.ok("annotate", "deployment/web", "kubernetes.io/change-cause=first");
  await kubectl.ok("set", "image", "deployment/web", "nginx=nginx:2");
  await kubectl.ok("annotate", "deployment/web", "kubernetes.io/change-cause=second", "--overwrite");
  await rolledOut(kubectl);
  return kubectl;
}

function rolledOut(kubectl: Kubectl): Promise<string> {
  return kubectl.ok("rollout", "status", "deployment/web", "--timeout=15s");
}

function image(kubectl: Kubectl): Promise<string> {
  return kubectl.ok("get", "deployment", "web", "-o", "jsonpath={.spec.template.spec.containers[0].image}");
}

export function rolloutClaims(suite: Suite): void {
  progress(suite);
  history(suite);
  pauses(suite);
}

function progress({ namespace }: Suite): void {
  test("rollout status follows a rollout to its end", async () => {
    const kubectl = await withDeployment(namespace());
    const before = await podNames(kubectl);

    await kubectl.ok("set", "image", "deployment/web", "nginx=nginx:2");
    const said = await rolledOut(kubectl);

    const after = await podNames(kubectl);
    expect(said.endsWith(DONE)).toBe(true);
    expect(before.filter((name) => after.includes(name))).toEqual([]);
    expect(await kubectl.ok("get", "replicasets", "--no-headers")).toMatch(
      /^web-\w+ +(0 +0 +0 +\S+\nweb-\w+ +2 +2 +2|2 +2 +2 +\S+\nweb-\w+ +0 +0 +0) +\S+\n$/,
    );
  });

  test("rollout status gives up on an image that does not exist", async () => {
    const kubectl = await withDeployment(namespace());
    const before = await podNames(kubectl);

    await kubectl.ok("set", "image", "deployment/web", "nginx=nginx:nonexistent");
    const said = await kubectl.refused("rollout", "status", "deployment/web", "--timeout=2s");

    expect(said).toContain("timed out waiting for the condition");
    expect(await podNames(kubectl)).toEqual(expect.arrayContaining([...before]));
  });

  test("rollout restart replaces the pods", async () => {
    const kubectl = await withDeployment(namespace());
    const before = await podNames(kubectl);

    expect(await kubectl.ok("rollout", "restart", "deployment/web")).toBe("deployment.apps/web restarted\n");
    expect((await rolledOut(kubectl)).endsWith(DONE)).toBe(true);

    const after = await podNames(kubectl);
    expect(after).toHaveLength(2);
    expect(before.filter((name) => after.includes(name))).toEqual([]);
  });
}

function history({ namespace }: Suite): void {
  test("rollout history shows each revision and why it was made", async () => {
    const kubectl = await withHistory(namespace());

    const all = await kubectl.ok("rollout", "history", "deployment/web");
    const first = await kubectl.ok("rollout", "history", "deployment/web", "--revision=1");

    expect(all).toMatch(/^deployment\.apps\/web \nREVISION {2}CHANGE-CAUSE\n1 +first\n2 +second\n\n$/);
    expect(first).toMatch(/^deployment\.apps\/web with revision #1\nPod Template:\n/);
    expect(first).toMatch(/^ +Image:\s+nginx:1$/m);
  });

  test("rollout undo goes back to what was before, as a new revision", async () => {
    const kubectl = await withHistory(namespace());

    expect(await kubectl.ok("rollout", "undo", "deployment/web")).toBe("deployment.apps/web rolled back\n");
    await rolledOut(kubectl);

    expect(await image(kubectl)).toBe("nginx:1");
    expect(await kubectl.ok("rollout", "history", "deployment/web")).toMatch(/\n2 +second\n3 +first\n\n$/);
  });

  test("rollout undo --to-revision goes to one that is kept, and to no other", async () => {
    const kubectl = await withHistory(namespace());

    await kubectl.ok("rollout", "undo", "deployment/web", "--to-revision=1");
    await rolledOut(kubectl);

    expect(await image(kubectl)).toBe("nginx:1");
    expect(await kubectl.refused("rollout", "undo", "deployment/web", "--to-revision=9")).toContain(
      "unable to find specified revision 9 in history",
    );
  });
}

function pauses({ namespace, since }: Suite): void {
  since(23)("a paused deployment rolls nothing out before it is resumed", async () => {
    const kubectl = await withHistory(namespace());
    const before = await podNames(kubectl);

    await kubectl.ok("rollout", "pause", "deployment/web");
    await kubectl.ok("set", "image", "deployment/web", "nginx=nginx:3");
    const generation = await kubectl.ok("get", "deployment", "web", "-o", "jsonpath={.metadata.generation}");
    const observed = `--for=jsonpath={.status.observedGeneration}=${generation}`;
    await kubectl.ok("wait", "deployment/web", observed, "--timeout=15s");
    const meanwhile = await podNames(kubectl);
    const refusal = await kubectl.refused("rollout", "undo", "deployment/web");
    await kubectl.ok("rollout", "resume", "deployment/web");
    await rolledOut(kubectl);

    expect(meanwhile).toEqual(before);
    expect(refusal).toContain("you cannot rollback a paused deployment; resume it first");
    const after = await podNames(kubectl);
    expect(before.filter((name) => after.includes(name))).toEqual([]);
  });
}
