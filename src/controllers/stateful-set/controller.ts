/**
 * Keeps a pod with a name and volumes of its own for each ordinal of a StatefulSet, in order if it is so asked, and moves them to a new template
 * from the last one down.
 *
 * Reads StatefulSets, their Pods, ControllerRevisions and volume claims. Creates and deletes the Pods that a set controls, creates claims, sets
 * who owns those, keeps the revisions; adopts and lets go of Pods and revisions by selector; writes StatefulSet status.
 */
import { ControllerRevision, StatefulSet } from "../../api/generated/types/apps-v1.ts";
import { PersistentVolumeClaim, Pod } from "../../api/generated/types/core-v1.ts";
import { defineController, watching } from "../../runtime/controller/controller.ts";
import type { Outcome, ReconcileContext } from "../../runtime/controller/controller.ts";
import { orphanedPods } from "../pods/orphaned-pods.ts";
import { ensureRevisions, forgetRevisions, planHistory } from "../revisions/revisions.ts";
import { mend, takeSteps } from "./acts.ts";
import { isClaimOf } from "./claims.ts";
import { nextUsableMs, planSteps } from "./plan-steps.ts";
import { ordinalOf, revisionOf, viewOf } from "./set-pods.ts";
import type { SetView } from "./set-pods.ts";
import { leftStatus, statusOf } from "./status.ts";

/** On revisions. */
const HASH = "controller.kubernetes.io/hash";
/** As upstream's default, should nobody have said. */
const HISTORY_LIMIT = 10;

export const statefulSetController = defineController({
  name: "statefulset-controller",
  for: StatefulSet,
  owns: [Pod, ControllerRevision],
  watches: [
    orphanedPods(StatefulSet, ({ spec }) => spec.selector),
    watching(PersistentVolumeClaim, function* ({ before, after }, cache) {
      // A pod may wait until a claim is gone, or for one to be made again.
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
  // Whatever were made for it now would keep it from going: it only says what is left of it.
  if (set.metadata.deletionTimestamp !== undefined) {
    if (set.status.updateRevision !== undefined)
      await context.updateStatus(set, leftStatus({ set, pods, now }));
    return undefined;
  }
  const { all, update, collisionCount } = await ensureRevisions(set, HASH, context);
  const current = all.find(({ metadata }) => metadata.name === set.status.currentRevision) ?? update;
  const view = viewOf(set, pods, { current, update, now });

  const made: Pod[] = [];
  try {
    const errors = await mend(view, context);
    await takeSteps(planSteps(view), { set, context, made });
    if (errors.length > 0) throw errors[0];
  } finally {
    // With what was made just now: one write instead of two in a row, between which somebody may want to scale the set.
    await context.updateStatus(set, statusOf({ ...view, pods: [...pods, ...made] }, collisionCount));
  }
  await forgetRevisions(planOldRevisions(view, all), context);
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
