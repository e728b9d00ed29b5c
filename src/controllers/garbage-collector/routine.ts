/**
 * Deletes objects whose owners are gone, and carries out background, foreground and orphan deletion.
 *
 * Reads the metadata of every resource in discovery. Deletes objects without living owners, removes references to deleted owners, and
 * removes the finalizers `foregroundDeletion` and `orphan`. It deletes an object only if the server confirms, by uid, that its owners are
 * gone. The delete fails if the object's owners changed.
 */
import type { OwnerReference } from "../../api/generated/types/meta-v1.ts";
import { inSlices } from "../../base/loop/in-slices.ts";
import { runInTurns } from "../../base/loop/run-in-turns.ts";
import type { Routine, RoutineParts } from "../../runtime/manager/routine.ts";
import type { ServedResources } from "../served-resources.ts";
import { Collector } from "./collector.ts";
import { DISCOVERY_SOURCES, DiscoveryFeed } from "./discovery-feed.ts";
import { MonitoredKinds } from "./monitored-kinds.ts";
import { OwnerGraph } from "./owner-graph.ts";
import type { KnownNode } from "./owner-graph.ts";
import { Workers } from "./workers.ts";

export const garbageCollectorRoutine: Routine = {
  name: "garbage-collector-controller",
  reads: DISCOVERY_SOURCES,
  run,
};

/** Upper bound of the wait for resources that cannot be read at the start; their objects are then read one by one. */
const FIRST_SYNC_MS = 30_000;

async function run(parts: RoutineParts, signal: AbortSignal): Promise<void> {
  const { loop, log, client } = parts;
  let served: ServedResources | undefined;
  const workers = new Workers({ loop, log, process: (uid) => collector.process(uid) });
  /** Objects reported before all owners are known. Most of them need no check then. */
  const early = new Set<string>();
  let isComplete = false;
  const graph = new OwnerGraph({
    check: (uid) => void (isComplete ? workers.add(uid) : early.add(uid)),
    gone: (uid) => collector.noteGone(uid),
    misplaced: (node, reference) => reportMisplaced(parts, node, reference),
  });
  const kinds = new MonitoredKinds(parts, graph);
  const nothing: ServedResources = { preferred: [], findType: () => undefined, failures: new Map() };
  const collector = new Collector({
    graph,
    client,
    served: () => served ?? nothing,
    behind: (version) => kinds.behind(version),
    enqueue: (uid) => workers.add(uid),
  });
  const feed = new DiscoveryFeed(parts, (now) => {
    served = now;
    if (kinds.update(now)) workers.addUnsettled();
  });
  const measured = measure(parts, graph);
  await feed.begin(signal);
  await firstSync(kinds, parts, signal);
  isComplete = true;
  const checkEarly = (uid: string): void => {
    if (graph.needsCheck(uid)) workers.add(uid);
  };
  await runInTurns(inSlices(early, checkEarly), loop, "loop");
  early.clear();
  await Promise.all([feed.run(signal), workers.run(signal)]);
  measured();
  kinds.leave();
}

/** Before the caches are filled, existing owners would appear unknown. */
async function firstSync(kinds: MonitoredKinds, { loop }: RoutineParts, signal: AbortSignal): Promise<void> {
  const waiting = new AbortController();
  const end = (): void => waiting.abort(new Error("the wait for the caches ended"));
  signal.addEventListener("abort", end, { once: true });
  if (signal.aborted) end();
  const timer = loop.timer(loop.now() + FIRST_SYNC_MS, "progress", end);
  await kinds.synced(waiting.signal).catch(() => undefined);
  timer.cancel();
  signal.removeEventListener("abort", end);
}

function reportMisplaced({ event }: RoutineParts, node: KnownNode, reference: OwnerReference): void {
  const { object, resource } = node;
  const { apiVersion, kind } = resource;
  const { namespace = "" } = object.metadata;
  const named = `[${reference.apiVersion}/${reference.kind}, namespace: ${namespace}, name: ${reference.name}, uid: ${reference.uid}]`;
  event(
    { apiVersion, kind, metadata: object.metadata },
    {
      type: "Warning",
      reason: "OwnerRefInvalidNamespace",
      message: `ownerRef ${named} does not exist in namespace ${JSON.stringify(namespace)}`,
    },
  );
}

function measure({ metrics }: RoutineParts, graph: OwnerGraph): () => void {
  const gauge = metrics.gauge({
    name: "setpoint_garbage_collector_objects",
    help: "Objects in the garbage collector's graph.",
  });
  return gauge.read(() => graph.size);
}
