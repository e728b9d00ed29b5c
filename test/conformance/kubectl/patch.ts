import { expect, test } from "vitest";
import type { Kubectl } from "./kubectl.ts";
import type { Suite } from "./suite.ts";

async function withDeployment(kubectl: Kubectl): Promise<Kubectl> {
  await kubectl.ok("create", "deployment", "d", "--image=img:1", "--replicas=2");
  return kubectl;
}

export function patchClaims({ namespace, since }: Suite): void {
  test("strategic: lists are merged by their keys", async () => {
    const kubectl = await withDeployment(namespace());
    const env = [{ name: "E", value: "1" }];
    const container = { name: "img", env };
    const patch = JSON.stringify({ spec: { template: { spec: { containers: [container] } } } });

    expect(await kubectl.ok("patch", "deployment", "d", "-p", patch)).toBe("deployment.apps/d patched\n");
    expect((await kubectl.json("get", "deployment", "d"))["spec"]?.["template"]?.["spec"]).toMatchObject({
      containers: [{ name: "img", image: "img:1", env }],
    });
  });

  test("merge: a list is replaced, and null removes", async () => {
    const kubectl = await withDeployment(namespace());
    const patch = { metadata: { labels: { app: null, x: "y" } }, spec: { replicas: 5 } };

    await kubectl.ok("patch", "deployment", "d", "--type=merge", "-p", JSON.stringify(patch));

    expect(await kubectl.json("get", "deployment", "d")).toMatchObject({
      metadata: { labels: { x: "y" }, generation: 2 },
      spec: { replicas: 5 },
    });
  });

  test("json: operations are carried out in order, and a test that fails refuses all", async () => {
    const kubectl = await withDeployment(namespace());
    const replace = { op: "replace", path: "/spec/replicas", value: 3 };
    const patch = (...operations: readonly object[]): readonly string[] => [
      "patch",
      "deployment",
      "d",
      "--type=json",
      "-p",
      JSON.stringify(operations),
    ];

    const refused = await kubectl.refused(
      ...patch(replace, { op: "test", path: "/spec/replicas", value: 9 }),
    );
    await kubectl.ok(...patch({ op: "test", path: "/spec/replicas", value: 2 }, replace));

    expect(refused).toContain("The request is invalid");
    expect(await kubectl.ok("get", "deployment", "d", "-o", "jsonpath={.spec.replicas}")).toBe("3");
  });

  test("that changes nothing says so and makes no revision", async () => {
    const kubectl = await withDeployment(namespace());
    const revision = "jsonpath={.metadata.resourceVersion}";
    const before = await kubectl.ok("get", "deployment", "d", "-o", revision);

    const said = await kubectl.ok("patch", "deployment", "d", "-p", '{"spec":{"replicas":2}}');

    expect(said).toBe("deployment.apps/d patched (no change)\n");
    expect(await kubectl.ok("get", "deployment", "d", "-o", revision)).toBe(before);
  });

  since(24)("--subresource=status changes status and nothing else", async () => {
    const kubectl = await withDeployment(namespace());
    const patch = { spec: { replicas: 9 }, status: { replicas: 2, observedGeneration: 1 } };

    await kubectl.ok(
      "patch",
      "deployment",
      "d",
      "--subresource=status",
      "--type=merge",
      "-p",
      JSON.stringify(patch),
    );

    const deployment = await kubectl.json("get", "deployment", "d");
    expect(deployment).toMatchObject({
      metadata: { generation: 1 },
      spec: { replicas: 2 },
      status: { replicas: 2, observedGeneration: 1 },
    });
  });

  since(24)("status is not changed through the main resource", async () => {
    const kubectl = await withDeployment(namespace());

    const said = await kubectl.ok(
      "patch",
      "deployment",
      "d",
      "--type=merge",
      "-p",
      '{"status":{"replicas":7}}',
    );

    expect(said).toBe("deployment.apps/d patched (no change)\n");
    expect((await kubectl.json("get", "deployment", "d"))["status"]?.["replicas"]).toBeUndefined();
  });

  since(24)("--subresource=scale reads and writes the number of replicas", async () => {
    const kubectl = await withDeployment(namespace());

    await kubectl.ok(
      "patch",
      "deployment",
      "d",
      "--subresource=scale",
      "--type=merge",
      "-p",
      '{"spec":{"replicas":6}}',
    );

    expect(await kubectl.json("get", "deployment", "d", "--subresource=scale")).toMatchObject({
      apiVersion: "autoscaling/v1",
      kind: "Scale",
      spec: { replicas: 6 },
      status: { selector: "app=d" },
    });
    expect(await kubectl.ok("get", "deployment", "d", "--subresource=scale")).toMatch(
      /^NAME +DESIRED +AVAILABLE +AGE *\nd +6 +0 /,
    );
  });

  test("what validation refuses is named with its field", async () => {
    const kubectl = await withDeployment(namespace());

    expect(await kubectl.refused("patch", "deployment", "d", "-p", '{"spec":{"replicas":-1}}')).toBe(
      'The Deployment "d" is invalid: spec.replicas: Invalid value: -1: must be greater than or equal to 0\n',
    );
  });

  test("what may not change is refused", async () => {
    const kubectl = await withDeployment(namespace());
    const patch = '{"spec":{"selector":{"matchLabels":{"app":"other"}}}}';

    expect(await kubectl.refused("patch", "deployment", "d", "--type=merge", "-p", patch)).toMatch(
      /^The Deployment "d" is invalid:[^]*spec\.selector: Invalid value: .*field is immutable/,
    );
  });
}
