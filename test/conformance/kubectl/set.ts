import { expect, test } from "vitest";
import type { JsonValue, Kubectl } from "./kubectl.ts";
import type { Suite } from "./suite.ts";

async function withDeployment(kubectl: Kubectl): Promise<Kubectl> {
  await kubectl.ok("create", "deployment", "d", "--image=img:1", "--port=80");
  return kubectl;
}

async function podSpec(kubectl: Kubectl): Promise<JsonValue | undefined> {
  return (await kubectl.json("get", "deployment", "d"))["spec"]?.["template"]?.["spec"];
}

export function setClaims(suite: Suite): void {
  settings(suite);
  makers(suite);
  rollouts(suite);
}

function settings({ namespace }: Suite): void {
  test("set image changes one container and begins a new generation", async () => {
    const kubectl = await withDeployment(namespace());

    expect(await kubectl.ok("set", "image", "deployment/d", "img=img:2")).toBe(
      "deployment.apps/d image updated\n",
    );
    expect(await podSpec(kubectl)).toMatchObject({ containers: [{ name: "img", image: "img:2" }] });
    expect(await kubectl.ok("get", "deployment", "d", "-o", "jsonpath={.metadata.generation}")).toBe("2");
    expect(await kubectl.refused("set", "image", "deployment/d", "none=x")).toBe(
      'error: unable to find container named "none"\n',
    );
  });

  test("set env sets, lists and removes variables", async () => {
    const kubectl = await withDeployment(namespace());

    expect(await kubectl.ok("set", "env", "deployment/d", "A=1", "B=2")).toBe(
      "deployment.apps/d env updated\n",
    );
    expect(await kubectl.ok("set", "env", "deployment/d", "--list")).toBe(
      "# Deployment d, container img\nA=1\nB=2\n",
    );
    await kubectl.ok("set", "env", "deployment/d", "A-");
    expect(await podSpec(kubectl)).toMatchObject({ containers: [{ env: [{ name: "B", value: "2" }] }] });
  });

  test("set resources stores canonical quantities", async () => {
    const kubectl = await withDeployment(namespace());

    const said = await kubectl.ok(
      "set",
      "resources",
      "deployment/d",
      "--limits=cpu=0.2,memory=1024Mi",
      "--requests=cpu=100m",
    );

    expect(said).toBe("deployment.apps/d resource requirements updated\n");
    expect(await podSpec(kubectl)).toMatchObject({
      containers: [{ resources: { limits: { cpu: "200m", memory: "1Gi" }, requests: { cpu: "100m" } } }],
    });
  });

  test("set serviceaccount sets both names of it", async () => {
    const kubectl = await withDeployment(namespace());

    expect(await kubectl.ok("set", "serviceaccount", "deployment", "d", "robot")).toBe(
      "deployment.apps/d serviceaccount updated\n",
    );
    expect(await podSpec(kubectl)).toMatchObject({ serviceAccount: "robot", serviceAccountName: "robot" });
  });

  test("set selector changes whom a service finds", async () => {
    const kubectl = namespace();
    await kubectl.ok("create", "service", "clusterip", "s", "--clusterip=None");

    expect(await kubectl.ok("set", "selector", "service", "s", "app=other")).toBe(
      "service/s selector updated\n",
    );
    expect((await kubectl.json("get", "service", "s"))["spec"]?.["selector"]).toEqual({ app: "other" });
  });
}

function makers({ namespace, since }: Suite): void {
  test("expose makes a service for what a deployment selects", async () => {
    const kubectl = await withDeployment(namespace());

    expect(await kubectl.ok("expose", "deployment", "d", "--port=80", "--target-port=8000")).toBe(
      "service/d exposed\n",
    );
    expect((await kubectl.json("get", "service", "d"))["spec"]).toMatchObject({
      selector: { app: "d" },
      ports: [{ port: 80, protocol: "TCP", targetPort: 8000 }],
    });
  });

  test("run makes a pod", async () => {
    const kubectl = namespace();

    expect(await kubectl.ok("run", "p", "--image=nginx", "--labels=a=b", "--", "sleep", "1")).toBe(
      "pod/p created\n",
    );
    expect(await kubectl.json("get", "pod", "p")).toMatchObject({
      metadata: { labels: { a: "b" } },
      spec: { containers: [{ name: "p", image: "nginx", imagePullPolicy: "Always", args: ["sleep", "1"] }] },
      status: { phase: "Pending", qosClass: "BestEffort" },
    });
  });

  since(24)("autoscale makes an autoscaler", async () => {
    const kubectl = await withDeployment(namespace());

    expect(await kubectl.ok("autoscale", "deployment", "d", "--min=1", "--max=3", "--cpu-percent=50")).toBe(
      "horizontalpodautoscaler.autoscaling/d autoscaled\n",
    );
    expect(await kubectl.json("get", "horizontalpodautoscalers.v2.autoscaling", "d")).toMatchObject({
      spec: {
        minReplicas: 1,
        maxReplicas: 3,
        scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "d" },
        metrics: [{ type: "Resource", resource: { name: "cpu", target: { averageUtilization: 50 } } }],
      },
    });
    const older = await kubectl.json("get", "horizontalpodautoscalers.v1.autoscaling", "d");
    expect(older["spec"]).toMatchObject({ maxReplicas: 3, targetCPUUtilizationPercentage: 50 });
  });

  since(32)("debug adds a container to a pod", async () => {
    const kubectl = namespace();
    await kubectl.ok("run", "p", "--image=nginx");

    await kubectl.ok("debug", "p", "--image=busybox", "--container=look", "--profile=general");

    expect((await kubectl.json("get", "pod", "p"))["spec"]?.["ephemeralContainers"]).toMatchObject([
      { name: "look", image: "busybox" },
    ]);
  });
}

function rollouts({ namespace }: Suite): void {
  test("rollout history is empty before the first rollout", async () => {
    const kubectl = await withDeployment(namespace());

    expect(await kubectl.ok("rollout", "history", "deployment/d")).toContain("No rollout history found.\n");
  });

  test("rollout pauses once and resumes once", async () => {
    const kubectl = await withDeployment(namespace());

    expect(await kubectl.ok("rollout", "pause", "deployment/d")).toBe("deployment.apps/d paused\n");
    expect(await kubectl.refused("rollout", "pause", "deployment/d")).toContain(
      'deployments.apps "d" is already paused',
    );
    expect(await kubectl.ok("rollout", "resume", "deployment/d")).toBe("deployment.apps/d resumed\n");
    expect((await kubectl.json("get", "deployment", "d"))["spec"]?.["paused"]).toBeUndefined();
  });

  test("rollout restart marks the template with a time", async () => {
    const kubectl = await withDeployment(namespace());

    expect(await kubectl.ok("rollout", "restart", "deployment/d")).toBe("deployment.apps/d restarted\n");
    const { metadata, spec } = await kubectl.json("get", "deployment", "d");
    expect(spec?.["template"]?.["metadata"]?.["annotations"]).toEqual({
      "kubectl.kubernetes.io/restartedAt": expect.any(String) as unknown,
    });
    expect(metadata?.["generation"]).toBe(2);
  });
}
