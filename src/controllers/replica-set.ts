/**
 * Keeps as many Pods running as each ReplicaSet asks for.
 *
 * Reads ReplicaSets and Pods. Creates and deletes Pods of a ReplicaSet, adopts matching orphans and releases Pods that no longer match.
 * Writes ReplicaSet status. It never touches a Pod that another object controls.
 */
import { ReplicaSet } from "../api/generated/types/apps-v1.ts";
import type { ReplicaSetStatus } from "../api/generated/types/apps-v1.ts";
import { Pod } from "../api/generated/types/core-v1.ts";
import { defineController } from "../runtime/controller/controller.ts";
import type { CacheReader, Outcome, ReconcileContext } from "../runtime/controller/controller.ts";
import { controllerOf } from "../runtime/refs/owner-reference.ts";
import { manageReplicas } from "./pods/manage-replicas.ts";
import { orphanedPods } from "./pods/orphaned-pods.ts";
import { planReplicas } from "./pods/plan-replicas.ts";
import type { ReplicaCounts } from "./pods/plan-replicas.ts";
import { withReplicaFailure } from "./pods/replica-failure.ts";
import type { ReplicaFailure } from "./pods/replica-failure.ts";

export const replicaSetController = defineController({
  name: "replicaset-controller",
  for: ReplicaSet,
  owns: [Pod],
  watches: [orphanedPods(ReplicaSet, ({ spec }) => spec.selector)],
  reconcile,
});

async function reconcile(rs: ReplicaSet, context: ReconcileContext): Promise<Outcome> {
  const pods = await context.claim(Pod, rs, rs.spec.selector);
  const now = context.clock.now();
  const plan = planReplicas(goalOf(rs), pods, { siblings: siblingPods(rs, context.cache), now });

  const failure = await manageReplicas(rs, rs.spec.template, { plan, context });
  // Deployments trust these counts once `observedGeneration` is current, so they must exclude the pods just deleted.
  const counts = failure === undefined ? plan.countsAfter : plan.counts;
  await context.updateStatus(rs, statusOf(rs, counts, { failure, now }));
  if (failure !== undefined) throw failure.error;
  return plan.recheckAfterMs === undefined ? undefined : { recheckAfterMs: plan.recheckAfterMs };
}

function goalOf({ spec, metadata }: ReplicaSet): Parameters<typeof planReplicas>[0] {
  const { replicas = 1, minReadySeconds = 0, selector, template } = spec;
  return {
    replicas,
    minReadySeconds,
    selector,
    template,
    isDeleted: metadata.deletionTimestamp !== undefined,
  };
}

/** Pods of the other ReplicaSets of the same Deployment. */
function siblingPods(rs: ReplicaSet, cache: CacheReader): readonly Pod[] {
  const owner = controllerOf(rs);
  if (owner === undefined) return [];
  const siblings = cache(ReplicaSet)
    .dependentsOf(owner.uid)
    .filter(({ metadata }) => metadata.uid !== rs.metadata.uid);
  return siblings.flatMap((sibling) => cache(Pod).ownedBy(sibling));
}

function statusOf(
  { status, metadata }: ReplicaSet,
  counts: ReplicaCounts,
  { failure, now }: { readonly failure: ReplicaFailure | undefined; readonly now: number },
): ReplicaSetStatus {
  const conditions = withReplicaFailure(status.conditions, failure, now);
  const { generation: observedGeneration } = metadata;
  return {
    ...counts,
    ...(observedGeneration !== undefined && { observedGeneration }),
    ...(conditions !== undefined && { conditions }),
  };
}
