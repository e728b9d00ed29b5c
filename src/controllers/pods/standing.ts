/**
 * Computes the state of a pod for controllers that count pods, once per version of the pod.
 *
 * A large set visits all its pods at every change of one. The state is spread over a dozen objects in memory, each of which may cost a CPU
 * cache miss.
 */
import type { Pod } from "../../api/generated/types/core-v1.ts";
import { isReady, isTerminal } from "../../resources/pod/pod-state.ts";

/** `leaving`: the pod is being deleted and has not ended. */
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
