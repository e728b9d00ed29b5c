/**
 * Keeps as many Pods running as each ReplicationController asks for. It is the older form of a ReplicaSet, with a label map as selector.
 *
 * Reads ReplicationControllers and Pods. Creates, deletes, adopts and releases Pods like the ReplicaSet controller; writes
 * ReplicationController status.
 */
import { Pod, ReplicationController } from "../api/generated/types/core-v1.ts";
import type { PodTemplateSpec, ReplicationControllerStatus } from "../api/generated/types/core-v1.ts";
import type { LabelSelector } from "../api/generated/types/meta-v1.ts";
import { defineController } from "../runtime/controller/controller.ts";
import type { Outcome, ReconcileContext } from "../runtime/controller/controller.ts";
import { manageReplicas } from "./pods/manage-replicas.ts";
import { orphanedPods } from "./pods/orphaned-pods.ts";
import { planReplicas } from "./pods/plan-replicas.ts";
import type { ReplicaCounts } from "./pods/plan-replicas.ts";
import { withReplicaFailure } from "./pods/replica-failure.ts";
import type { ReplicaFailure } from "./pods/replica-failure.ts";

export const replicationController = defineController({
  name: "replication-controller",
  for: ReplicationController,
  owns: [Pod],
  watches: [orphanedPods(ReplicationController, selectorOf)],
  reconcile,
});

/** A ReplicationController without a template still counts its pods but cannot create any. */
const NO_TEMPLATE: PodTemplateSpec = { metadata: {}, spec: { containers: [] } };

async function reconcile(rc: ReplicationController, context: ReconcileContext): Promise<Outcome> {
  const selector = selectorOf(rc);
  const pods = await context.claim(Pod, rc, selector);
  const now = context.clock.now();
  const { replicas = 1, minReadySeconds = 0, template = NO_TEMPLATE } = rc.spec;
  const isDeleted = rc.metadata.deletionTimestamp !== undefined;
  const goal = { replicas, minReadySeconds, selector, template, isDeleted };
  const plan = planReplicas(goal, pods, { siblings: [], now });

  const failure = await manageReplicas(rc, template, { plan, context });
  const counts = failure === undefined ? plan.countsAfter : plan.counts;
  await context.updateStatus(rc, statusOf(rc, counts, { failure, now }));
  if (failure !== undefined) throw failure.error;
  return plan.recheckAfterMs === undefined ? undefined : { recheckAfterMs: plan.recheckAfterMs };
}

function selectorOf({ spec }: ReplicationController): LabelSelector {
  return { matchLabels: spec.selector ?? {} };
}

function statusOf(
  { status, metadata }: ReplicationController,
  { replicas, fullyLabeledReplicas, readyReplicas, availableReplicas }: ReplicaCounts,
  { failure, now }: { readonly failure: ReplicaFailure | undefined; readonly now: number },
): ReplicationControllerStatus {
  const conditions = withReplicaFailure(status.conditions, failure, now);
  const { generation: observedGeneration } = metadata;
  return {
    replicas,
    fullyLabeledReplicas,
    readyReplicas,
    availableReplicas,
    ...(observedGeneration !== undefined && { observedGeneration }),
    ...(conditions !== undefined && { conditions }),
  };
}
