/**
 * Lets go of pods that a Job has tracked and that no Job counts any more: without this the finalizer of a Job that was deleted would keep
 * them for ever. A Job that has finished counts nothing, either: a pod of it that is deleted afterwards is free to go.
 *
 * Reads Pods and Jobs; takes the finalizer off Pods.
 */
import { Job } from "../../api/generated/types/batch-v1.ts";
import { Pod } from "../../api/generated/types/core-v1.ts";
import type { OwnerReference } from "../../api/generated/types/meta-v1.ts";
import { defineController, watching } from "../../runtime/controller/controller.ts";
import type { Outcome, ReconcileContext } from "../../runtime/controller/controller.ts";
import { removeFinalizer } from "../../runtime/controller/finalizer.ts";
import { controllerOf } from "../../runtime/refs/owner-reference.ts";
import { isTracked, TRACKING } from "./job-pods.ts";
import { isFinished, isManagedHere } from "./verdict.ts";

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
  // Whoever else controls it may have a use for the finalizer.
  if (!isTracked(pod) || (owner !== undefined && !isJob(owner))) return;
  const job = owner && (await findJob(pod, owner, context));
  if (job === undefined || !countsPod(job, pod)) await removeFinalizer(context.client(Pod), pod, TRACKING);
}

/** The cache of Jobs may be behind that of Pods. */
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

/** Now or later. What is done with the pods of a Job that somebody else manages is their business. */
function countsPod(job: Job, { metadata }: Pod): boolean {
  return !isFinished(job) || !isManagedHere(job) || metadata.deletionTimestamp === undefined;
}

function isJob({ apiVersion, kind }: OwnerReference): boolean {
  return kind === Job.kind && apiVersion === Job.apiVersion;
}
