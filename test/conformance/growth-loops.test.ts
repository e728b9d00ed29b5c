/** The work of the loops grows with a change and not with the cluster. It is counted in objects read from caches, never in time. */
import { describe, expect, test } from "vitest";
import { Namespace, Pod } from "../../src/api/generated/types/core-v1.ts";
import { BULK, clusterWithPods } from "./loops-fixture.ts";
import type { RunningPlane } from "./loops-fixture.ts";

/** A slice of 256 changes, and 16 reads of single objects by the listeners of each. */
const READS_OF_STEP_MAX = 256 * 16;
/** All loops together, for one change of a pod whose ReplicaSet has ten, and for its replacement. */
const READS_OF_CHANGE_MAX = 200;
const READS_OF_REPLACEMENT_MAX = 1000;
/** For a pod that goes with its namespace, until it is gone. */
const READS_OF_DELETION_MAX = 25;
/** Fewer than the pods of that namespace. */
const READS_OF_DELETING_STEP_MAX = 256 * 8;

/** A pod of the ReplicaSet `web`. */
async function webPod({ client, finish }: RunningPlane): Promise<Pod> {
  const { items } = await finish(client(Pod).list({ namespace: "default" }));
  const found = items.find(({ metadata }) => metadata.labels?.["app"] === "web");
  if (found === undefined) throw new Error("there is no pod of the ReplicaSet web");
  return found;
}

/** Objects that all loops visit until they have handled the change. */
async function readsFor(plane: RunningPlane, change: () => Promise<unknown>): Promise<number> {
  const before = plane.visited();
  await plane.finish(change());
  await plane.settle();
  return plane.visited() - before;
}

describe.each([1000, 20_000])("with %i running pods stored", (count) => {
  test("the loops start in slices, and handle a change of one pod in constant work", async () => {
    const plane = await (await clusterWithPods(count)).start();
    const before = plane.revision();
    await plane.settle();

    expect(plane.mostInStep(), "most reads of one step at the start").toBeLessThan(READS_OF_STEP_MAX);
    expect(plane.visited(), "reads of the start").toBeLessThan(count * 16);
    expect(plane.revision() - before, "writes of the start, most for nodes").toBeLessThan(count / 10);

    const pod = await webPod(plane);
    const pods = plane.client(Pod);
    const labels = { metadata: { labels: { more: "yes" } } };
    const labelled = await readsFor(plane, () => pods.patch(pod, { type: "merge", changes: labels }));
    const replaced = await readsFor(plane, () => pods.delete(pod));

    expect(labelled, "reads for a label").toBeLessThan(READS_OF_CHANGE_MAX);
    expect(replaced, "reads for a deletion, and another pod that runs").toBeLessThan(
      READS_OF_REPLACEMENT_MAX,
    );
    expect(plane.mostInStep(), "most reads of one step").toBeLessThan(READS_OF_STEP_MAX);
    await plane.stop();
  });
});

test("a namespace with 2,500 running pods that is deleted goes in slices, and each pod costs constant work", async () => {
  const plane = await (await clusterWithPods(2500)).start();
  await plane.settle();

  const reads = await readsFor(plane, () => plane.client(Namespace).delete({ name: BULK }));

  expect(await plane.finish(plane.client(Namespace).find({ name: BULK }))).toBeUndefined();
  expect(reads / 2500, "reads for each pod").toBeLessThan(READS_OF_DELETION_MAX);
  expect(plane.mostInStep(), "most reads of one step").toBeLessThan(READS_OF_DELETING_STEP_MAX);
  await plane.stop();
});
