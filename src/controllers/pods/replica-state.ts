/**
 * Computes the state of a pod for controllers that count pods, once per version of the pod.
 *
 * A large set visits all its pods at every change of one. The state is spread over a dozen objects in memory, each of which may cost a CPU
 * cache miss.
 */
import type { Pod } from "../../api/generated/types/core-v1.ts";
import { isReady, isTerminal } from "../../resources/pod/pod-state.ts";

/** `terminating`: the pod is being deleted and has not ended. */
export type ReplicaState = "ended" | "terminating" | "unready" | "ready";

const known = new WeakMap<Pod, ReplicaState>();

export function stateOf(pod: Pod): ReplicaState {
  const found = known.get(pod);
  if (found !== undefined) return found;
  const state = findState(pod);
  known.set(pod, state);
  return state;
}

function findState(pod: Pod): ReplicaState {
  if (isTerminal(pod)) return "ended";
  if (pod.metadata.deletionTimestamp !== undefined) return "terminating";
  return isReady(pod) ? "ready" : "unready";
}
