/**
 * Takes back what pods were told of their end when it does not come. Whoever is about to end a pod first writes the condition DisruptionTarget; if
 * the deletion then fails for good, nobody else would ever correct it, and a later failure of the pod would count as a disruption.
 *
 * Reads Pods; sets the condition of those that still live two minutes later to False.
 */
import { isApiError } from "../../api/errors/api-error.ts";
import { Pod } from "../../api/generated/types/core-v1.ts";
import { formatTime } from "../../api/values/time.ts";
import { findCondition, isActive } from "../../resources/pod/pod-state.ts";
import { defineController } from "../../runtime/controller/controller.ts";
import type { Outcome, ReconcileContext } from "../../runtime/controller/controller.ts";

const TARGET = "DisruptionTarget";
/** A node may take as long as it likes to end a pod that it has chosen itself. */
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

/** Undefined for a pod that is not told of its end, or has met it. */
function findStaleTime(pod: Pod): number | undefined {
  const condition = findCondition(pod, TARGET);
  if (condition?.status !== "True" || condition.reason === BY_NODE || !isActive(pod)) return undefined;
  return Date.parse(condition.lastTransitionTime ?? pod.metadata.creationTimestamp) + STALE_AFTER_MS;
}

/** Reason and message go with what they were about. */
function untargeted({ metadata: { generation }, status }: Pod, now: number): object {
  const isTracked = status.observedGeneration !== undefined && generation !== undefined;
  return {
    type: TARGET,
    status: "False",
    reason: null,
    message: null,
    lastTransitionTime: formatTime(BigInt(Math.floor(now)) * 1000n),
    ...(isTracked && { observedGeneration: generation }),
  };
}
