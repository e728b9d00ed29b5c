import { expect, test } from "vitest";
import type { Kubectl } from "./kubectl.ts";
import type { Suite } from "./suite.ts";
import { podNames, withDeployment } from "./workload.ts";

/** Waits until everything the deployment owned is gone; kubectl complains if it already is. */
async function gone(kubectl: Kubectl): Promise<void> {
  const args = ["wait", "--for=delete", "replicasets,pods", "--all", "--timeout=15s"];
  const { code, stderr } = await kubectl.run(...args);
  expect(code === 0 || stderr.includes("no matching resources found"), stderr).toBe(true);
}

export function cascadeClaims({ namespace, since }: Suite): void {
  since(24)("delete --cascade=background removes the owner at once and what it owns after it", async () => {
    const kubectl = await withDeployment(namespace());

    await kubectl.ok("delete", "deployment", "web", "--cascade=background");
    const deployments = await kubectl.ok("get", "deployments", "-o", "name");
    await gone(kubectl);

    expect(deployments).toBe("");
    expect(await kubectl.ok("get", "replicasets,pods", "-o", "name")).toBe("");
  });

  test("delete --cascade=foreground ends when everything that was owned is gone", async () => {
    const kubectl = await withDeployment(namespace());

    await kubectl.ok("delete", "deployment", "web", "--cascade=foreground", "--timeout=20s");

    expect(await kubectl.ok("get", "deployments,replicasets,pods", "-o", "name")).toBe("");
  });

  test("delete --cascade=orphan leaves what was owned, without an owner", async () => {
    const kubectl = await withDeployment(namespace());
    const before = await podNames(kubectl);

    await kubectl.ok("delete", "deployment", "web", "--cascade=orphan");

    const replicaSets = await kubectl.json("get", "replicasets");
    expect(replicaSets["items"]).toHaveLength(1);
    expect(replicaSets["items"]?.[0]?.["metadata"]?.["ownerReferences"]).toBeUndefined();
    expect(await podNames(kubectl)).toEqual(before);
  });

  test("what was orphaned is adopted by a deployment that selects it", async () => {
    const kubectl = await withDeployment(namespace());
    const before = await podNames(kubectl);
    await kubectl.ok("delete", "deployment", "web", "--cascade=orphan");

    await withDeployment(kubectl);

    expect(await podNames(kubectl)).toEqual(before);
    expect((await kubectl.json("get", "replicasets"))["items"]?.[0]?.["metadata"]).toMatchObject({
      ownerReferences: [{ kind: "Deployment", name: "web", controller: true }],
    });
  });

  since(24)("a finalizer holds an owner that is deleted, and what it owns goes all the same", async () => {
    const kubectl = await withDeployment(namespace());
    const held = '{"metadata":{"finalizers":["example.com/hold"]}}';
    await kubectl.ok("patch", "deployment", "web", "--type=merge", "-p", held);

    await kubectl.ok("delete", "deployment", "web", "--cascade=foreground", "--wait=false");
    await gone(kubectl);
    const left = await kubectl.ok("get", "deployments,replicasets,pods", "-o", "name");
    await kubectl.ok("patch", "deployment", "web", "--type=merge", "-p", '{"metadata":{"finalizers":null}}');

    expect(left).toBe("deployment.apps/web\n");
    expect(await kubectl.ok("get", "deployments", "-o", "name")).toBe("");
  });
}
