/**
 * What counts of a pod for whoever keeps a number of them. A large set goes over all of its pods at every change of one, and what a pod says of itself lies in a dozen
 * places of memory, which the processor has to fetch one by one: so it is found out once for each state of a pod.
 */
import type { Pod } from "../../api/generated/types/core-v1.ts";
import { isReady, isTerminal } from "../../resources/pod/pod-state.ts";

/** `leaving` has been asked to end and has not ended yet. */
export type Standing = "ended" | "leaving" | "unready" | "ready";

const known = new WeakMap<Pod, Standing>();

export function standingOf(pod: Pod): Standing {
  const found = known.get(pod);
  if (found !== undefined) return found;
  const standing = findStanding(pod);
  known.set(pod, standing);
  return standing;
}

function findStanding(pod: Pod): Standing {
  if (isTerminal(pod)) return "ended";
  if (pod.metadata.deletionTimestamp !== undefined) return "leaving";
  return isReady(pod) ? "ready" : "unready";
}
