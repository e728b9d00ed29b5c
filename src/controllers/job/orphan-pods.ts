/**
 * Lets go of pods that a Job has tracked and that no Job controls any more: without this the finalizer of a Job that was deleted would keep
 * them for ever.
 *
 * Reads Pods and Jobs; takes the finalizer off Pods.
 */
import { Job } from "../../api/generated/types/batch-v1.ts";
import { Pod } from "../../api/generated/types/core-v1.ts";
import { defineController, watching } from "../../runtime/controller.ts";
import type { CacheReader, Outcome, ReconcileContext } from "../../runtime/controller.ts";
import { removeFinalizer } from "../../runtime/finalizer.ts";
import { controllerOf } from "../../runtime/owner-reference.ts";
import { isTracked, TRACKING } from "./job-pods.ts";

export const orphanJobPodsController = defineController<Pod>({
  name: "job-orphan-pods-controller",
  for: Pod,
  when: ({ after }) => after !== undefined && isTracked(after),
  watches: [
    watching(Job, function* ({ before, after }, cache) {
      if (before === undefined || after?.metadata.uid === before.metadata.uid) return;
      for (const { metadata } of cache(Pod).dependentsOf(before.metadata.uid)) {
        yield { namespace: metadata.namespace, name: metadata.name };
      }
    }),
  ],
  reconcile,
});

async function reconcile(pod: Pod, context: ReconcileContext): Promise<Outcome> {
  if (!isTracked(pod) || findJob(pod, context.cache) !== undefined) return;
  const owner = jobOf(pod);
  // The cache of Jobs may be behind that of Pods.
  const live =
    owner && (await context.client(Job).find({ namespace: pod.metadata.namespace, name: owner.name }));
  if (live === undefined || live.metadata.uid !== owner?.uid)
    await removeFinalizer(context.client(Pod), pod, TRACKING);
}

function findJob(pod: Pod, cache: CacheReader): Job | undefined {
  const owner = jobOf(pod);
  if (owner === undefined) return undefined;
  const job = cache(Job).find({ namespace: pod.metadata.namespace, name: owner.name });
  return job?.metadata.uid === owner.uid ? job : undefined;
}

function jobOf(pod: Pod): ReturnType<typeof controllerOf> {
  const owner = controllerOf(pod);
  return owner?.kind === "Job" && owner.apiVersion.startsWith("batch/") ? owner : undefined;
}
