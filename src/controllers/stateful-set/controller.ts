/**
 * Keeps one named pod with its own volumes per ordinal of a StatefulSet. Updates go from the last ordinal down.
 *
 * Reads StatefulSets, Pods, ControllerRevisions and volume claims. Creates and deletes Pods, creates claims and sets their owners, keeps
 * revisions; adopts and releases Pods and revisions by selector. Writes StatefulSet status.
 */
import { ControllerRevision, StatefulSet } from "../../api/generated/types/apps-v1.ts";
import { PersistentVolumeClaim, Pod } from "../../api/generated/types/core-v1.ts";
import { defineController, watching } from "../../runtime/controller/controller.ts";
import type { Outcome, ReconcileContext } from "../../runtime/controller/controller.ts";
import { orphanedPods } from "../pods/orphaned-pods.ts";
import { deleteRevisions, ensureRevisions, planHistory } from "../revisions/revisions.ts";
import { isClaimOf } from "./claims.ts";
import { nextUsableMs, planSteps } from "./plan-steps.ts";
import { ordinalOf, revisionOf, viewOf } from "./set-pods.ts";
import type { SetView } from "./set-pods.ts";
import { deletedSetStatus, statusOf } from "./stateful-set-status.ts";
import { repair, takeSteps } from "./take-steps.ts";

/** Label of revisions. */
const HASH = "controller.kubernetes.io/hash";
/** Upstream's default, for sets without `revisionHistoryLimit`. */
const HISTORY_LIMIT = 10;

export const statefulSetController = defineController({
  name: "statefulset-controller",
  for: StatefulSet,
  owns: [Pod, ControllerRevision],
  watches: [
    orphanedPods(StatefulSet, ({ spec }) => spec.selector),
    watching(PersistentVolumeClaim, function* ({ before, after }, cache) {
      // A pod may wait for the deletion of a claim, or for its recreation.
      if (before === undefined || after !== undefined) return;
      const { namespace = "" } = before.metadata;
      for (const set of cache(StatefulSet).list({ namespace }))
        if (isClaimOf(before, set)) yield { namespace, name: set.metadata.name };
    }),
  ],
  reconcile,
});

async function reconcile(set: StatefulSet, context: ReconcileContext): Promise<Outcome> {
  const { selector } = set.spec;
  const accepts = (pod: Pod): boolean => ordinalOf(pod, set) !== undefined;
  const pods = await context.claim(Pod, set, { selector, accepts });
  const now = context.clock.now();
  // New objects would delay the set's deletion: only the status is updated.
  if (set.metadata.deletionTimestamp !== undefined) {
    if (set.status.updateRevision !== undefined)
      await context.updateStatus(set, deletedSetStatus({ set, pods, now }));
    return undefined;
  }
  const { all, update, collisionCount } = await ensureRevisions(set, HASH, context);
  const current = all.find(({ metadata }) => metadata.name === set.status.currentRevision) ?? update;
  const view = viewOf(set, pods, { current, update, now });

  const made: Pod[] = [];
  try {
    const errors = await repair(view, context);
    await takeSteps(planSteps(view), { set, context, made });
    if (errors.length > 0) throw errors[0];
  } finally {
    // Includes the pods just created, so that one write suffices. A scale request between two writes would conflict.
    await context.updateStatus(set, statusOf({ ...view, pods: [...pods, ...made] }, collisionCount));
  }
  await deleteRevisions(planOldRevisions(view, all), context);
  const recheckAfterMs = nextUsableMs(view);
  return recheckAfterMs === undefined ? undefined : { recheckAfterMs };
}

function planOldRevisions(
  { set, pods, current, update }: SetView,
  all: readonly ControllerRevision[],
): readonly ControllerRevision[] {
  const live = new Set([current.metadata.name, update.metadata.name, ...pods.map(revisionOf)]);
  return planHistory(all, {
    limit: set.spec.revisionHistoryLimit ?? HISTORY_LIMIT,
    isLive: ({ metadata }) => live.has(metadata.name),
  });
}
