/**
 * Resets the condition DisruptionTarget of pods that were not deleted.
 *
 * The evicting component writes the condition before it deletes the pod. If the deletion fails for good, a later failure of the pod would
 * count as a disruption.
 *
 * Reads Pods; sets the condition to False after two minutes.
 */
import { isApiError } from "../../api/errors/api-error.ts";
import { Pod } from "../../api/generated/types/core-v1.ts";
import { timeText } from "../../api/values/time.ts";
import { findCondition, isActive } from "../../resources/pod/pod-state.ts";
import { defineController } from "../../runtime/controller/controller.ts";
import type { Outcome, ReconcileContext } from "../../runtime/controller/controller.ts";

const TARGET = "DisruptionTarget";
/** Reason of kubelet evictions, which have no time limit. */
const BY_NODE = "TerminationByKubelet";
const STALE_AFTER_MS = 120_000;

export const staleTargetController = defineController<Pod>({
  name: "stale-disruption-controller",
  for: Pod,
  when: ({ after }) => after !== undefined && findStaleTime(after) !== undefined,
  reconcile,
});

async function reconcile(pod: Pod, { client, clock }: ReconcileContext): Promise<Outcome> {
  const staleAt = findStaleTime(pod);
  if (staleAt === undefined) return undefined;
  const now = clock.now();
  if (staleAt > now) return { recheckAfterMs: staleAt - now };
  const { uid, resourceVersion } = pod.metadata;
  const changes = { metadata: { uid, resourceVersion }, status: { conditions: [untargeted(pod, now)] } };
  try {
    await client(Pod).patch(pod, { type: "strategic", changes }, { subresource: "status" });
  } catch (error) {
    if (!isApiError(error, "NotFound")) throw error;
  }
  return undefined;
}

/** Undefined for a pod without the condition, or one that is ending. */
function findStaleTime(pod: Pod): number | undefined {
  const condition = findCondition(pod, TARGET);
  if (condition?.status !== "True" || condition.reason === BY_NODE || !isActive(pod)) return undefined;
  return Date.parse(condition.lastTransitionTime ?? pod.metadata.creationTimestamp) + STALE_AFTER_MS;
}

/** Reason and message are removed with the claim they explained. */
function untargeted({ metadata: { generation }, status }: Pod, now: number): object {
  const isTracked = status.observedGeneration !== undefined && generation !== undefined;
  return {
    type: TARGET,
    status: "False",
    reason: null,
    message: null,
    lastTransitionTime: timeText(now),
    ...(isTracked && { observedGeneration: generation }),
  };
}
