/** The server deletes an ended pod in two writes, as upstream does: it marks the pod, then removes it. The second write may never happen. */
import { expect, test } from "vitest";
import type { Manifest } from "../../src/api/api-object.ts";
import { Node, Pod } from "../../src/api/generated/types/core-v1.ts";
import { timeText } from "../../src/api/values/time.ts";
import { ChaosCluster } from "./chaos/chaos-cluster.ts";

const KEY = "/registry/pods/default/done";
const POD = {
  metadata: {
    name: "done",
    namespace: "default",
    annotations: { "simulated.setpoint.dev/exit-after": "1s" },
  },
  spec: { restartPolicy: "Never", containers: [{ name: "app", image: "app" }] },
} as Manifest<Pod>;

test.each(["runs", "was stopped"])(
  "a pod that a server left half deleted goes when its node %s",
  async (how) => {
    await using world = await ChaosCluster.open(1, 1);
    await world.advance(30_000);
    await world.client(Pod).create(POD);
    await world.advance(30_000);
    if (how === "was stopped") await world.stop("nodes");

    await deleteHalf(world);
    if (how === "was stopped") world.start("nodes");
    await world.advance(1000);
    expect(world.objects(Pod, "default")).toHaveLength(1);
    await world.advance(30_000);

    expect(world.objects(Pod, "default")).toEqual([]);
  },
);

test("a pod that never ran goes although its agent was stopped right before it had let it go", async () => {
  await using world = await ChaosCluster.open(1, 1);
  await world.advance(30_000);
  const annotations = { "simulated.setpoint.dev/start-delay": "1h" };
  await world.client(Pod).create({ ...POD, metadata: { ...POD.metadata, annotations } });
  await world.advance(5000);
  await world.stop("nodes");
  await world.client(Pod).delete({ name: "done", namespace: "default" }, { gracePeriodSeconds: 30 });
  const pod = await world.client(Pod).get({ name: "done", namespace: "default" });
  const terminated = { exitCode: 137, reason: "ContainerStatusUnknown" };
  const containerStatuses = (pod.status.containerStatuses ?? []).map((each) => ({
    ...each,
    state: { terminated },
  }));
  await world.client(Pod).updateStatus(pod, { ...pod.status, phase: "Failed", containerStatuses });

  world.start("nodes");
  await world.advance(60_000);

  expect(world.objects(Pod, "default")).toEqual([]);
});

test("the address of a pod that was left half deleted stays with the pod that has it by then", async () => {
  await using world = await ChaosCluster.open(1, 1);
  await world.advance(30_000);
  const nodeName = world.objects(Node)[0]?.metadata.name ?? "";
  await edit<Node>(world, `/registry/minions/${nodeName}`, (node) => ({
    ...node,
    spec: { podCIDR: FIVE_ADDRESSES, podCIDRs: [FIVE_ADDRESSES] },
  }));
  const onNode = { ...POD, spec: { ...POD.spec, nodeName } } as Manifest<Pod>;
  await world.client(Pod).create(onNode);
  await world.advance(30_000);
  await world.stop("nodes");
  world.start("nodes");
  await world.advance(30_000);
  const create = async (name: string): Promise<void> => {
    await world.client(Pod).create({ ...onNode, metadata: { name, namespace: "default" } } as Manifest<Pod>);
    await world.advance(5000);
  };
  await create("next");
  expect(addressOf(world, "next")).toBe(addressOf(world, "done"));

  await deleteHalf(world);
  await world.advance(30_000);
  for (let i = 0; i < 5; i++) await create(`more-${i}`);

  const shown = world.objects(Pod, "default").flatMap(({ status }) => status.podIP ?? []);
  expect(shown).toHaveLength(5);
  expect(new Set(shown).size).toBe(5);
});

test("a pod that has ended and is still there takes no room of the next when its agent starts anew", async () => {
  await using world = await ChaosCluster.open(1, 1);
  await world.advance(30_000);
  const nodeName = world.objects(Node)[0]?.metadata.name ?? "";
  const resources = { requests: { cpu: "3" } };
  const spec = { nodeName, containers: [{ name: "app", image: "app", resources }] };
  const create = (name: string): Promise<Pod> =>
    world.client(Pod).create({ metadata: { name, namespace: "default" }, spec } as Manifest<Pod>);
  await create("done");
  await world.advance(30_000);
  await world.stop("nodes");
  await world.client(Pod).delete({ name: "done", namespace: "default" }, { gracePeriodSeconds: 30 });
  await edit<Pod>(world, KEY, (pod) => {
    const state = { terminated: { exitCode: 0, reason: "Completed" } };
    const containerStatuses = (pod.status.containerStatuses ?? []).map((each) => ({ ...each, state }));
    return { ...pod, status: { ...pod.status, phase: "Succeeded", containerStatuses } };
  });
  await create("next");

  world.start("nodes");
  await world.advance(60_000);

  const phases = world.objects(Pod, "default").map(({ metadata, status }) => [metadata.name, status.phase]);
  expect(phases).toEqual([["next", "Running"]]);
});

const FIVE_ADDRESSES = "10.99.0.0/29";

function addressOf(world: ChaosCluster, name: string): string | undefined {
  return world.objects(Pod, "default").find(({ metadata }) => metadata.name === name)?.status.podIP;
}

async function edit<T>(world: ChaosCluster, key: string, change: (object: T) => object): Promise<void> {
  const { value = new Uint8Array() } = world.store.view.get(key) ?? {};
  const changed = Buffer.from(JSON.stringify(change(JSON.parse(Buffer.from(value).toString()) as T)));
  const written = world.store.write({ changes: [{ type: "put", key, value: changed }] });
  await world.advance(0);
  await written;
}

async function deleteHalf(world: ChaosCluster): Promise<void> {
  const deletionTimestamp = timeText(world.now());
  await edit<Pod>(world, KEY, (pod) => {
    expect(pod.status.phase).toBe("Succeeded");
    return { ...pod, metadata: { ...pod.metadata, deletionTimestamp, deletionGracePeriodSeconds: 0 } };
  });
}
