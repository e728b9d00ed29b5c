/** A pod as the scheduler sees it. */

import type { Pod } from "../../api/generated/types/core-v1.ts";
import type { Labels } from "../../api/selectors/label-requirement.ts";
import type { AffinityTerms, PodIdentity } from "./affinity-term.ts";
import type { PodShape, PodShapes } from "./pod-shape.ts";

export interface PodInfo extends PodIdentity {
  /** `namespace/name`. */
  readonly key: string;
  readonly uid: string;
  readonly namespace: string;
  readonly name: string;
  readonly labels: Labels | undefined;
  readonly priority: number;
  readonly schedulerName: string;
  readonly isTerminating: boolean;
  readonly shape: PodShape;
  readonly affinity: AffinityTerms;
  readonly pod: Pod;
}

const DEFAULT_SCHEDULER = "default-scheduler";

export function podKey({ metadata }: Pod): string {
  return `${metadata.namespace ?? ""}/${metadata.name}`;
}

export function podInfo(pod: Pod, shapes: PodShapes): PodInfo {
  const { metadata, spec } = pod;
  const shape = shapes.shapeOf(pod);
  const namespace = metadata.namespace ?? "";
  return {
    key: podKey(pod),
    uid: metadata.uid,
    namespace,
    name: metadata.name,
    labels: metadata.labels,
    priority: spec.priority ?? 0,
    schedulerName: spec.schedulerName ?? DEFAULT_SCHEDULER,
    isTerminating: metadata.deletionTimestamp !== undefined,
    shape,
    affinity: shape.affinityIn(namespace),
    pod,
  };
}

/**
 * True if no sum, count or decision changed, apart from the node. Granted resources in the status change the generation, or the caller
 * checks them.
 */
export function isSameToScheduler(before: Pod, after: Pod): boolean {
  return (
    before.metadata.uid === after.metadata.uid &&
    before.metadata.generation !== undefined &&
    before.metadata.generation === after.metadata.generation &&
    before.metadata.deletionTimestamp === after.metadata.deletionTimestamp &&
    sameLabels(before.metadata.labels, after.metadata.labels)
  );
}

export function sameLabels(left: Labels | undefined, right: Labels | undefined): boolean {
  if (left === right) return true;
  const keys = Object.keys(left ?? {});
  if (keys.length !== Object.keys(right ?? {}).length) return false;
  return keys.every((key) => left?.[key] === right?.[key]);
}
