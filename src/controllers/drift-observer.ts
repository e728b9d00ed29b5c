/**
 * Counts objects whose observed state differs from the desired one, as metrics. Reads only; each change of an object costs one look
 * at its state.
 */
import type { ApiObject, ResourceType } from "../api/api-object.ts";
import { DaemonSet, Deployment, ReplicaSet, StatefulSet } from "../api/generated/types/apps-v1.ts";
import { Job } from "../api/generated/types/batch-v1.ts";
import { Namespace, Node, PersistentVolumeClaim, Pod } from "../api/generated/types/core-v1.ts";
import { inSlices } from "../base/loop/in-slices.ts";
import { runInTurns } from "../base/loop/run-in-turns.ts";
import { untilAborted } from "../base/loop/until-aborted.ts";
import { objectState } from "../insight/state/object-state.ts";
import type { Routine, RoutineParts } from "../runtime/manager/routine.ts";

const KINDS: readonly ResourceType[] = [
  DaemonSet,
  Deployment,
  Job,
  Namespace,
  Node,
  PersistentVolumeClaim,
  Pod,
  ReplicaSet,
  StatefulSet,
];

export const driftObserver: Routine = {
  name: "drift-observer",
  reads: KINDS,
  run: async (parts, signal) => {
    const observers = KINDS.map((type) => observe(type, parts));
    const ends = observers.map(({ end }) => end);
    try {
      for (const { look } of observers) if (!signal.aborted) await look();
      await untilAborted(signal);
    } finally {
      for (const end of ends) end();
    }
  },
};

interface Observer {
  /** Looks at the objects that exist. */
  readonly look: () => Promise<void>;
  readonly end: () => void;
}

/** Publishes the figures of a kind until `end` is called. */
function observe(type: ResourceType, { loop, metrics, cache, subscribe }: RoutineParts): Observer {
  /** Start of the difference of each object by its uid, in milliseconds since the epoch. */
  const differing = new Map<string, number>();
  const note = (object: ApiObject): void => {
    const { uid = "" } = object.metadata;
    const { isSettled, since } = objectState(object, loop.now());
    if (isSettled) differing.delete(uid);
    else differing.set(uid, since ?? differing.get(uid) ?? loop.now());
  };
  const unsubscribe = subscribe(type, ({ before, after }) => {
    if (after !== undefined) note(after);
    else if (before !== undefined) differing.delete(before.metadata.uid ?? "");
  });
  const kind = { kind: type.kind };
  const labels = ["kind"];
  const oldest = (): number => {
    let since = loop.now();
    for (const each of differing.values()) since = Math.min(since, each);
    return (loop.now() - since) / 1000;
  };
  const ends = [
    unsubscribe,
    metrics
      .gauge({ name: "setpoint_drift_objects", help: "Objects that are not as desired.", labels })
      .read(() => differing.size, kind),
    metrics
      .gauge({
        name: "setpoint_drift_oldest_seconds",
        help: "Time for which the oldest of these objects has not been as desired.",
        labels,
      })
      .read(oldest, kind),
  ];
  return {
    look: async () => {
      await runInTurns(inSlices(cache(type).walk(), note), loop, "loop");
    },
    end: () => {
      for (const end of ends) end();
    },
  };
}
