/** When a pod must leave its node because of the taints there. */
import type { Node, Pod, Taint } from "../../api/generated/types/core-v1.ts";
import { plainNumber } from "../../api/values/plain-number.ts";
import { tolerates } from "../../resources/pod/node-selection.ts";

/** Taints that drive away pods which do not put up with them. */
export function drivingTaints({ spec }: Node): readonly Taint[] {
  return (spec.taints ?? []).filter(({ effect }) => effect === "NoExecute");
}

/**
 * Undefined: it may stay for ever. Otherwise the moment, which is past when it must go at once. A taint that does not say since when it is
 * there counts from `seenAt`. Of several tolerations for one taint the first counts, as upstream has it.
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
