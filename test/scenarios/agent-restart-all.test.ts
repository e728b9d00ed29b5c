/** The exit of one container can restart its whole pod, on its node and with its address. */
import { expect, test } from "vitest";
import { Pod } from "../../src/api/generated/types/core-v1.ts";
import type { ContainerStatus } from "../../src/api/generated/types/core-v1.ts";
import type { Cluster } from "../../src/cluster/in-program/start-cluster.ts";
import { openCluster } from "./agent-fixture.ts";

const ONE_NODE = { clock: "virtual", loops: [], nodes: 1, seed: 1 } as const;

const TOLD = "simulated.setpoint.dev";

test("all containers start anew, init containers first, when a rule wants that", async () => {
  await using cluster = await openCluster(ONE_NODE);
  await create(cluster, { "exit-code": "42", "exit-after": "30s", "exit-times": "1" });
  await cluster.clock.advance("20s");
  const before = find(cluster).status;
  await cluster.clock.advance("30s");

  const { phase, podIP, initContainerStatuses, containerStatuses } = find(cluster).status;
  expect({ phase, podIP }).toEqual({ phase: "Running", podIP: before.podIP });
  expect(restarts(before.initContainerStatuses)).toEqual({ first: 0, side: 0 });
  expect(restarts(initContainerStatuses)).toEqual({ first: 1, side: 1 });
  expect(restarts(containerStatuses)).toEqual({ watcher: 1, web: 1 });
  expect(containerStatuses?.map(({ state }) => Object.keys(state))).toEqual([["running"], ["running"]]);
  expect(condition(cluster)).toBe("False");
});

test("the pod says that it begins anew while containers still end", async () => {
  await using cluster = await openCluster(ONE_NODE);
  await create(cluster, { "exit-code": "42", "exit-after": "30s", "exit-times": "1" }, "10s");
  await cluster.clock.advance("35s");

  expect(condition(cluster)).toBe("True");
  expect(find(cluster).status.phase).toBe("Running");
  await cluster.clock.advance("30s");
  expect(condition(cluster)).toBe("False");
  expect(restarts(find(cluster).status.containerStatuses)).toEqual({ watcher: 1, web: 1 });
});

test("another exit code ends the container alone", async () => {
  await using cluster = await openCluster(ONE_NODE);
  await create(cluster, { "exit-code": "7", "exit-after": "30s" });
  await cluster.clock.advance("1m");

  expect(restarts(find(cluster).status.containerStatuses)).toEqual({ watcher: 0, web: 0 });
  expect(find(cluster).status.phase).toBe("Running");
});

test("one that ends so again and again waits longer each time", async () => {
  await using cluster = await openCluster(ONE_NODE);
  await create(cluster, { "exit-code": "42", "exit-after": "1s" });
  await cluster.clock.advance("10m");

  const { watcher = 0, web = 0 } = restarts(find(cluster).status.containerStatuses);
  expect(watcher).toBe(web);
  expect(watcher).toBeGreaterThan(3);
  expect(watcher).toBeLessThan(10);
});

async function create(
  cluster: Cluster,
  watcher: Readonly<Record<string, string>>,
  terminationTime = "0s",
): Promise<void> {
  const told = Object.entries(watcher).map(([name, value]) => [`watcher.${TOLD}/${name}`, value] as const);
  const rule = { action: "RestartAllContainers", exitCodes: { operator: "In" as const, values: [42] } };
  const annotations = { ...Object.fromEntries(told), [`web.${TOLD}/termination-time`]: terminationTime };
  await cluster.client(Pod).create({
    metadata: { name: "web", annotations },
    spec: {
      nodeName: "node-1",
      restartPolicy: "Never",
      initContainers: [
        { name: "first", image: "init:1", command: ["sleep", "1"] },
        { name: "side", image: "side:1", restartPolicy: "Always" },
      ],
      containers: [
        { name: "web", image: "web:1" },
        { name: "watcher", image: "web:1", restartPolicy: "Never", restartPolicyRules: [rule] },
      ],
    },
  });
}

function restarts(statuses: readonly ContainerStatus[] = []): Readonly<Record<string, number>> {
  return Object.fromEntries(statuses.map(({ name, restartCount }) => [name, restartCount]));
}

function condition(cluster: Cluster): string | undefined {
  const { conditions = [] } = find(cluster).status;
  return conditions.find(({ type }) => type === "AllContainersRestarting")?.status;
}

function find(cluster: Cluster): Pod {
  const [found] = cluster.objects(Pod, "default");
  if (found === undefined) throw new Error("there is no pod");
  return found;
}
