/** Computes when a pod must leave its node because of taints. */
import type { Node, Pod, Taint } from "../../api/generated/types/core-v1.ts";
import { plainNumber } from "../../api/values/plain-number.ts";
import { tolerates } from "../../resources/pod/node-selection.ts";

/** Taints that evict pods without a toleration. */
export function evictingTaints({ spec }: Node): readonly Taint[] {
  return (spec.taints ?? []).filter(({ effect }) => effect === "NoExecute");
}

/**
 * Time of the eviction, possibly in the past; undefined if the pod may stay for ever.
 *
 * A taint without a timestamp counts from `seenAt`. The first matching toleration of a taint counts, as upstream's.
 */
export function findEvictionAt(pod: Pod, taints: readonly Taint[], seenAt: number): number | undefined {
  let earliest = Infinity;
  for (const taint of taints) {
    const toleration = (pod.spec.tolerations ?? []).find((each) => tolerates(each, taint));
    if (toleration === undefined) return seenAt;
    const { tolerationSeconds } = toleration;
    if (tolerationSeconds === undefined) continue;
    const since = taint.timeAdded === undefined ? seenAt : Math.min(seenAt, Date.parse(taint.timeAdded));
    earliest = Math.min(earliest, since + Math.max(0, plainNumber(tolerationSeconds)) * 1000);
  }
  return earliest === Infinity ? undefined : earliest;
}
