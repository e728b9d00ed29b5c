/**
 * Keeps one pod of each DaemonSet on every suitable node, and updates the pods to a new template.
 *
 * Reads DaemonSets, Nodes, Pods and ControllerRevisions. Creates and deletes the set's Pods, which the scheduler binds to their nodes.
 * Keeps the revisions; adopts and releases both by selector. Writes DaemonSet status.
 */
import { ControllerRevision, DaemonSet } from "../../api/generated/types/apps-v1.ts";
import { Node, Pod } from "../../api/generated/types/core-v1.ts";
import { jsonEqual } from "../../api/patch/json-equal.ts";
import { defineController, watching } from "../../runtime/controller/controller.ts";
import type { Outcome, ReconcileContext } from "../../runtime/controller/controller.ts";
import { orphanedPods } from "../pods/orphaned-pods.ts";
import { createPods, deletePods } from "../pods/pod-changes.ts";
import { deleteRevisions, ensureRevisions, planHistory, REVISION_HASH } from "../revisions/revisions.ts";
import { newDaemon, nodeOf } from "./daemon-pods.ts";
import { statusOf } from "./daemon-set-status.ts";
import { viewOf } from "./daemon-view.ts";
import type { DaemonView } from "./daemon-view.ts";
import { nextUsableMs, planPods } from "./plan-daemons.ts";
import type { DaemonPlan } from "./plan-daemons.ts";
import { planUpdate } from "./plan-update.ts";

/** Upstream's default, for sets without `revisionHistoryLimit`. */
const HISTORY_LIMIT = 10;

export const daemonSetController = defineController({
  name: "daemonset-controller",
  for: DaemonSet,
  owns: [Pod, ControllerRevision],
  watches: [
    orphanedPods(DaemonSet, ({ spec }) => spec.selector),
    watching(Node, function* ({ before, after }, cache) {
      if (before !== undefined && after !== undefined && !affectsFitness(before, after)) return;
      for (const { metadata } of cache(DaemonSet).list())
        yield { namespace: metadata.namespace, name: metadata.name };
    }),
  ],
  reconcile,
});

/** Ignores heartbeats and other changes of the node's status. */
function affectsFitness(before: Node, after: Node): boolean {
  return (
    !jsonEqual(before.metadata.labels ?? {}, after.metadata.labels ?? {}) ||
    !jsonEqual(before.spec.taints ?? [], after.spec.taints ?? [])
  );
}

async function reconcile(set: DaemonSet, context: ReconcileContext): Promise<Outcome> {
  // New pods would delay the deletion of the set.
  if (set.metadata.deletionTimestamp !== undefined) return;
  const pods = await context.claim(Pod, set, set.spec.selector);
  const { all, update, collisionCount } = await ensureRevisions(set, REVISION_HASH, context);
  const hash = update.metadata.labels?.[REVISION_HASH] ?? "";
  const nodes = context.cache(Node).list();
  const view = viewOf(set, { nodes, pods }, { hash, now: context.clock.now() });
  const plan = planAll(view);

  await context.updateStatus(set, statusOf(view, collisionCount));
  await carryOut(view, plan, context);
  await deleteRevisions(planOldRevisions(set, { pods, update, all }), context);
  const waits = [plan.waitMs, nextUsableMs(view)].filter((wait) => wait !== undefined);
  return waits.length === 0 ? undefined : { recheckAfterMs: Math.min(...waits) };
}

/** An update starts only if no pod is missing and none is surplus. */
function planAll(view: DaemonView): DaemonPlan {
  const plan = planPods(view);
  if (plan.toCreate.length + plan.toDelete.length > 0) return plan;
  const { toDelete, toSurge } = planUpdate(view);
  return { ...plan, toDelete, toCreate: toSurge.map((node) => ({ node, failures: 0 })) };
}

async function carryOut(
  { set, hash }: DaemonView,
  plan: DaemonPlan,
  context: ReconcileContext,
): Promise<void> {
  for (const pod of plan.ended) reportEnded(set, pod, context);
  const deleted = await deletePods(set, plan.toDelete, context);
  const manifests = plan.toCreate.map(({ node, failures }) => newDaemon(set, { node, hash, failures }));
  const created = await createPods(set, manifests, context);
  const errors = [...deleted.errors, ...created.errors];
  if (errors.length > 0) throw errors[0];
}

function reportEnded(set: DaemonSet, pod: Pod, context: ReconcileContext): void {
  const { namespace = "", name } = pod.metadata;
  const where = `${namespace}/${name} on node ${nodeOf(pod) ?? ""}`;
  if (pod.status.phase === "Failed") {
    const message = `Found failed daemon pod ${where}, will try to kill it`;
    context.event(set, { type: "Warning", reason: "FailedDaemonPod", message });
  } else {
    const message = `Found succeeded daemon pod ${where}, will try to delete it`;
    context.event(set, { type: "Normal", reason: "SucceededDaemonPod", message });
  }
}

function planOldRevisions(
  { spec }: DaemonSet,
  {
    pods,
    update,
    all,
  }: {
    readonly pods: readonly Pod[];
    readonly update: ControllerRevision;
    readonly all: readonly ControllerRevision[];
  },
): readonly ControllerRevision[] {
  const live = new Set([update, ...pods].map(({ metadata }) => metadata.labels?.[REVISION_HASH]));
  return planHistory(all, {
    limit: spec.revisionHistoryLimit ?? HISTORY_LIMIT,
    isLive: ({ metadata }) => live.has(metadata.labels?.[REVISION_HASH]),
  });
}
