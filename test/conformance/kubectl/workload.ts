/** The real kubectl on workloads that controllers, the scheduler and nodes run. */
import { expect, test } from "vitest";
import { listOf } from "../../api-harness.ts";
import { table } from "./kubectl.ts";
import type { Kubectl } from "./kubectl.ts";
import type { Suite } from "./suite.ts";

/** A deployment of two running pods. */
export async function withDeployment(kubectl: Kubectl): Promise<Kubectl> {
  await kubectl.ok("create", "deployment", "web", "--image=nginx:1", "--replicas=2");
  await kubectl.ok("rollout", "status", "deployment/web", "--timeout=15s");
  return kubectl;
}

export async function podNames(kubectl: Kubectl): Promise<readonly string[]> {
  const names = await kubectl.ok("get", "pods", "-o", "name", "--field-selector=status.phase=Running");
  return names.split("\n").filter((name) => name !== "");
}

export function workloadClaims(suite: Suite): void {
  shows(suite);
  changes(suite);
  services(suite);
  jobs(suite);
}

function shows({ namespace }: Suite): void {
  test("get all shows a deployment with its replica set and its pods", async () => {
    const kubectl = await withDeployment(namespace());
    await kubectl.ok("create", "configmap", "not-shown");

    expect(await kubectl.ok("get", "all", "-o", "name")).toMatch(
      /^(pod\/web-(?<hash>\w+)-\w{5}\n){2}deployment\.apps\/web\nreplicaset\.apps\/web-\k<hash>\n$/,
    );
  });

  test("get -o wide shows what runs where", async () => {
    const kubectl = await withDeployment(namespace());

    const [, deployment] = table(await kubectl.ok("get", "deployments", "-o", "wide"));
    const [, pod] = table(await kubectl.ok("get", "pods", "-o", "wide"));

    expect(deployment).toEqual(["web", "2/2", "2", "2", "AGE", "nginx", "nginx:1", "app=web"]);
    expect(pod).toEqual([
      expect.stringMatching(/^web-\w+-\w{5}$/),
      "1/1",
      "Running",
      "0",
      "AGE",
      expect.stringMatching(/^10\.\d+\.\d+\.\d+$/),
      expect.stringMatching(/^node-[123]$/),
      "<none>",
      "<none>",
    ]);
  });

  test("describe deployment shows its numbers, conditions and what was done for it", async () => {
    const kubectl = await withDeployment(namespace());

    const text = await kubectl.ok("describe", "deployment", "web");

    for (const line of [
      /^Annotations: +deployment\.kubernetes\.io\/revision: 1$/m,
      /^Replicas: +2 desired \| 2 updated \| 2 total \| 2 available \| 0 unavailable$/m,
      /^ +Available +True +MinimumReplicasAvailable$/m,
      /^ +Progressing +True +NewReplicaSetAvailable$/m,
      /^OldReplicaSets: +<none>$/m,
      /^NewReplicaSet: +web-\w+ \(2\/2 replicas created\)$/m,
      /^ +Normal +ScalingReplicaSet +\S+ +deployment-controller +Scaled up replica set web-\w+ from 0 to 2$/m,
    ])
      expect(text).toMatch(line);
  });

  test("describe replicaset shows which pods it made", async () => {
    const kubectl = await withDeployment(namespace());

    const text = await kubectl.ok("describe", "replicaset");

    expect(text).toMatch(/^Controlled By: +Deployment\/web$/m);
    expect(text).toMatch(/^Pods Status: +2 Running \/ 0 Waiting \/ 0 Succeeded \/ 0 Failed$/m);
    expect(
      text.match(/Normal +SuccessfulCreate +\S+ +replicaset-controller +Created pod: web-/g),
    ).toHaveLength(2);
  });

  test("describe pod tells its way to a node and into running", async () => {
    const kubectl = namespace();
    await kubectl.ok("run", "p", "--image=nginx:1");
    await kubectl.ok("wait", "--for=condition=Ready", "pod/p", "--timeout=15s");

    const text = await kubectl.ok("describe", "pod", "p");

    expect(text).toMatch(/^Node: +node-[123]\/172\.18\.\d+\.\d+$/m);
    // Events are written beside the status, so the last of them may arrive a moment later.
    const toNode = `default-scheduler +Successfully assigned ${kubectl.namespace}/p to node-`;
    const events = [
      `Scheduled +\\S+ +${toNode}`,
      ...["Pulled", "Created", "Started"].map((reason) => `${reason} +\\S+ +kubelet `),
    ];
    for (const event of events)
      await expect
        .poll(() => kubectl.ok("describe", "pod", "p"))
        .toMatch(new RegExp(`^ +Normal +${event}`, "m"));
  });

  test("a pod that fits nowhere says why", async () => {
    const kubectl = namespace();
    const overrides = { spec: { nodeSelector: { disk: "fast" } } };
    await kubectl.ok("run", "p", "--image=nginx:1", "--overrides", JSON.stringify(overrides));
    await kubectl.ok("wait", "--for=condition=PodScheduled=False", "pod/p", "--timeout=15s");

    const message = "-o=jsonpath={.status.conditions[0].message}";

    expect(await kubectl.ok("get", "pod", "p", message)).toMatch(
      /^0\/3 nodes are available: 3 node\(s\) didn't match Pod's node affinity\/selector\./,
    );
    expect(await kubectl.ok("get", "pod", "p", "--no-headers")).toMatch(/^p +0\/1 +Pending /);
  });
}

function changes({ namespace, since }: Suite): void {
  since(23)("scale makes and removes pods", async () => {
    const kubectl = await withDeployment(namespace());

    await kubectl.ok("scale", "deployment", "web", "--replicas=4");
    await kubectl.ok("rollout", "status", "deployment/web", "--timeout=15s");
    const more = await podNames(kubectl);
    await kubectl.ok("scale", "deployment", "web", "--replicas=1");
    await kubectl.ok("wait", "deployment/web", "--for=jsonpath={.status.replicas}=1", "--timeout=15s");

    expect(more).toHaveLength(4);
    expect(await kubectl.ok("get", "deployment", "web", "--no-headers")).toMatch(/^web +1\/1 +1 +1 /);
  });

  test("wait --for=condition=available ends when the pods of a deployment are there", async () => {
    const kubectl = namespace();
    await kubectl.ok("create", "deployment", "web", "--image=nginx:1", "--replicas=2");

    expect(await kubectl.ok("wait", "--for=condition=available", "deployment/web", "--timeout=15s")).toBe(
      "deployment.apps/web condition met\n",
    );
  });

  test("a pod that is deleted is replaced, and its name does not come again", async () => {
    const kubectl = await withDeployment(namespace());
    const before = await podNames(kubectl);

    await kubectl.ok("delete", before[0] ?? "", "--now");
    await kubectl.ok("wait", "--for=condition=available", "deployment/web", "--timeout=15s");
    await kubectl.ok("rollout", "status", "deployment/web", "--timeout=15s");

    const after = await podNames(kubectl);
    expect(after).toHaveLength(2);
    expect(after).not.toContain(before[0]);
    expect(after).toContain(before[1]);
  });

  test("a namespace goes with everything in it", async () => {
    const kubectl = await withDeployment(namespace());

    await kubectl.ok("delete", "namespace", kubectl.namespace);

    expect(await kubectl.refused("get", "namespace", kubectl.namespace)).toContain("not found");
    expect(await kubectl.ok("get", "all,configmaps,serviceaccounts", "-o", "name")).toBe("");
  });
}

function services({ namespace, since }: Suite): void {
  since(23)("a service that a deployment is exposed as leads to its pods", async () => {
    const kubectl = await withDeployment(namespace());

    await kubectl.ok("expose", "deployment", "web", "--port=80", "--target-port=8000");
    const path = "jsonpath={.subsets[0].ports[0].port}";
    await kubectl.ok("wait", "endpoints/web", `--for=${path}=8000`, "--timeout=15s");

    const slices = await kubectl.json("get", "endpointslices", "-l", "kubernetes.io/service-name=web");
    const addresses = await kubectl.ok("get", "pods", "-o", "jsonpath={.items[*].status.podIP}");
    expect(slices["items"]?.[0]).toMatchObject({ ports: [{ port: 8000, protocol: "TCP" }] });
    const found = listOf<{ addresses: string[] }>(slices["items"]?.[0]?.["endpoints"]);
    expect(new Set(found.flatMap((endpoint) => endpoint.addresses))).toEqual(new Set(addresses.split(" ")));
  });
}

function jobs({ namespace }: Suite): void {
  test("a job completes", async () => {
    const kubectl = namespace();
    await kubectl.ok("create", "job", "j", "--image=busybox", "--", "true");

    expect(await kubectl.ok("wait", "--for=condition=complete", "job/j", "--timeout=15s")).toBe(
      "job.batch/j condition met\n",
    );
    expect(await kubectl.ok("get", "job", "j", "--no-headers")).toMatch(/^j +(Complete +)?1\/1 /);
    expect(await kubectl.ok("get", "pods", "--no-headers")).toMatch(/^j-\w{5} +0\/1 +Completed +0 /);
  });
}
