/** The server deletes a pod that has ended in two steps, as upstream does: first it says so, then the pod is gone. It may not come to the second. */
import { expect, test } from "vitest";
import type { Manifest } from "../../src/api/api-object.ts";
import { Pod } from "../../src/api/generated/types/core-v1.ts";
import { ChaosWorld } from "./chaos/chaos-world.ts";

const KEY = "/registry/pods/default/done";
const POD = {
  metadata: {
    name: "done",
    namespace: "default",
    annotations: { "simulated.setpoint.dev/exit-after": "1s" },
  },
  spec: { restartPolicy: "Never", containers: [{ name: "app", image: "app" }] },
} as unknown as Manifest<Pod>;

test.each(["runs", "was stopped"])(
  "a pod that a server left half deleted goes when its node %s",
  async (how) => {
    await using world = await ChaosWorld.open(1, 1);
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
  await using world = await ChaosWorld.open(1, 1);
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

async function deleteHalf(world: ChaosWorld): Promise<void> {
  const { value = new Uint8Array() } = world.store.view.get(KEY) ?? {};
  const pod = JSON.parse(Buffer.from(value).toString()) as Pod;
  expect(pod.status.phase).toBe("Succeeded");
  const deletionTimestamp = new Date(world.now()).toISOString().replace(/\.\d+/, "");
  const metadata = { ...pod.metadata, deletionTimestamp, deletionGracePeriodSeconds: 0 };
  const changed = Buffer.from(JSON.stringify({ ...pod, metadata }));
  const written = world.store.write({ changes: [{ type: "put", key: KEY, value: changed }] });
  await world.advance(0);
  await written;
}
