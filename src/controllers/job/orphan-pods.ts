/**
 * Removes the tracking finalizer from pods that no Job will count, which would otherwise stay for ever.
 *
 * Covers pods of deleted Jobs, and deleted pods of finished Jobs. Reads Pods and Jobs; writes Pods.
 */
import { Job } from "../../api/generated/types/batch-v1.ts";
import { Pod } from "../../api/generated/types/core-v1.ts";
import type { OwnerReference } from "../../api/generated/types/meta-v1.ts";
import { defineController, watching } from "../../runtime/controller/controller.ts";
import type { Outcome, ReconcileContext } from "../../runtime/controller/controller.ts";
import { removeFinalizer } from "../../runtime/controller/finalizer.ts";
import { controllerOf } from "../../runtime/refs/owner-reference.ts";
import { isFinished, isManagedHere } from "./job-outcome.ts";
import { isTracked, TRACKING } from "./job-pods.ts";

export const orphanJobPodsController = defineController<Pod>({
  name: "job-orphan-pods-controller",
  for: Pod,
  when: ({ after }) => after !== undefined && isTracked(after),
  watches: [
    watching(Job, function* ({ before, after }, cache) {
      const isGone = before !== undefined && after?.metadata.uid !== before.metadata.uid;
      const isEnd = after !== undefined && isFinished(after);
      const uids = [...(isGone ? [before.metadata.uid] : []), ...(isEnd ? [after.metadata.uid] : [])];
      for (const { metadata } of uids.flatMap((uid) => cache(Pod).dependentsOf(uid)).filter(isTracked)) {
        yield { namespace: metadata.namespace, name: metadata.name };
      }
    }),
  ],
  reconcile,
});

async function reconcile(pod: Pod, context: ReconcileContext): Promise<Outcome> {
  const owner = controllerOf(pod);
  // Another controller may rely on the finalizer.
  if (!isTracked(pod) || (owner !== undefined && !isJob(owner))) return;
  const job = owner && (await findJob(pod, owner, context));
  if (job === undefined || !countsPod(job, pod)) await removeFinalizer(context.client(Pod), pod, TRACKING);
}

/** Asks the server if needed: the cache of Jobs may lag behind that of Pods. */
async function findJob(
  { metadata: { namespace } }: Pod,
  { name, uid }: OwnerReference,
  { cache, client }: ReconcileContext,
): Promise<Job | undefined> {
  const known = cache(Job).find({ namespace, name });
  if (known?.metadata.uid === uid) return known;
  const live = await client(Job).find({ namespace, name });
  return live?.metadata.uid === uid ? live : undefined;
}

/** True if the Job counts the pod now or later. Pods of a Job with another manager are left to that manager. */
function countsPod(job: Job, { metadata }: Pod): boolean {
  return !isFinished(job) || !isManagedHere(job) || metadata.deletionTimestamp === undefined;
}

function isJob({ apiVersion, kind }: OwnerReference): boolean {
  return kind === Job.kind && apiVersion === Job.apiVersion;
}
