/** Builds the status of a StatefulSet. Pure. */
import type { StatefulSetStatus } from "../../api/generated/types/apps-v1.ts";
import type { Pod } from "../../api/generated/types/core-v1.ts";
import { isBeingDeleted, isRunningAndReady, isUsable, revisionOf, wantedOf } from "./set-pods.ts";
import type { SetView } from "./set-pods.ts";

interface Named {
  readonly metadata: { readonly name: string };
}

interface CountedSet extends Pick<SetView, "set" | "pods" | "now"> {
  readonly current: Named;
  readonly update: Named;
}

/** Status of a set that is being deleted. Its revisions may be gone before its pods, so their recorded names stay. */
export function deletedSetStatus(counted: Pick<CountedSet, "set" | "pods" | "now">): StatefulSetStatus {
  const { currentRevision = "", updateRevision = "", collisionCount } = counted.set.status;
  const named = (name: string): Named => ({ metadata: { name } });
  return statusOf(
    { ...counted, current: named(currentRevision), update: named(updateRevision) },
    collisionCount,
  );
}

export function statusOf(view: CountedSet, collisionCount: number | undefined): StatefulSetStatus {
  const { set, pods } = view;
  const count = (holds: (pod: Pod) => boolean): number => pods.filter(holds).length;
  const ofRevision = (name: string): number =>
    count((pod) => !isBeingDeleted(pod) && revisionOf(pod) === name);
  const ready = count(isRunningAndReady);
  const updated = ofRevision(view.update.metadata.name);
  const isUpdated = isUpdateComplete(view, { ready, updated });
  const current = isUpdated ? view.update : view.current;
  const currentPods = isUpdated ? updated : ofRevision(current.metadata.name);
  const { generation: observedGeneration } = set.metadata;
  const { conditions } = set.status;
  return {
    ...(observedGeneration !== undefined && { observedGeneration }),
    replicas: pods.length,
    ...(ready > 0 && { readyReplicas: ready }),
    availableReplicas: count((pod) => isUsable(pod, view)),
    ...(currentPods > 0 && { currentReplicas: currentPods }),
    ...(updated > 0 && { updatedReplicas: updated }),
    currentRevision: current.metadata.name,
    updateRevision: view.update.metadata.name,
    collisionCount: collisionCount ?? 0,
    ...(conditions !== undefined && { conditions }),
  };
}

/** All wanted pods are updated and ready. */
function isUpdateComplete(
  { set, pods }: CountedSet,
  { ready, updated }: { readonly ready: number; readonly updated: number },
): boolean {
  if (set.spec.updateStrategy.type === "OnDelete") return false;
  return [pods.length, ready, updated].every((number) => number === wantedOf(set));
}
