/**
 * Deletes finished Jobs after their `ttlSecondsAfterFinished`, their pods first.
 *
 * Reads and deletes Jobs.
 */
import { isApiError } from "../api/errors/api-error.ts";
import { Job } from "../api/generated/types/batch-v1.ts";
import { defineController } from "../runtime/controller/controller.ts";
import type { Outcome, ReconcileContext } from "../runtime/controller/controller.ts";

export const ttlAfterFinishedController = defineController({
  name: "ttl-after-finished-controller",
  for: Job,
  reconcile,
});

async function reconcile(job: Job, { client, clock }: ReconcileContext): Promise<Outcome> {
  const dueAt = findDueTime(job);
  if (dueAt === undefined) return undefined;
  const leftMs = dueAt - clock.now();
  if (leftMs > 0) return { recheckAfterMs: leftMs, timer: "periodic" };
  const { uid, resourceVersion } = job.metadata;
  try {
    const preconditions = { uid, resourceVersion };
    await client(Job).delete(job, { propagationPolicy: "Foreground", preconditions });
  } catch (error) {
    if (!isApiError(error, "NotFound")) throw error;
  }
  return undefined;
}

/** Undefined for a job that has no TTL, has not finished or is being deleted. */
export function findDueTime({ metadata, spec, status }: Job): number | undefined {
  const { ttlSecondsAfterFinished } = spec;
  if (ttlSecondsAfterFinished === undefined || metadata.deletionTimestamp !== undefined) return undefined;
  const finished = (status.conditions ?? []).find(
    ({ type, status: is }) => (type === "Complete" || type === "Failed") && is === "True",
  );
  const finishedAt = finished?.lastTransitionTime;
  return finishedAt === undefined ? undefined : Date.parse(finishedAt) + ttlSecondsAfterFinished * 1000;
}
