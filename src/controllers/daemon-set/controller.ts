/**
 * Keeps one pod of each DaemonSet on every node that is fit for it, and moves them to a new template as the set asks for.
 *
 * Reads DaemonSets, Nodes, Pods and ControllerRevisions. Creates and deletes the Pods that a set controls (the scheduler puts them on their
 * nodes), keeps the revisions, adopts and lets go of both by selector; writes DaemonSet status.
 */
import { ControllerRevision, DaemonSet } from "../../api/generated/types/apps-v1.ts";
import { Node, Pod } from "../../api/generated/types/core-v1.ts";
import { jsonEqual } from "../../api/patch/json-equal.ts";
import { defineController, watching } from "../../runtime/controller/controller.ts";
import type { Outcome, ReconcileContext } from "../../runtime/controller/controller.ts";
import { orphanedPods } from "../pods/orphaned-pods.ts";
import { createPods, deletePods } from "../pods/pod-changes.ts";
import { ensureRevisions, forgetRevisions, planHistory, REVISION_HASH } from "../revisions/revisions.ts";
import { newDaemon, nodeOf } from "./daemon-pods.ts";
import { viewOf } from "./daemon-view.ts";
import type { DaemonView } from "./daemon-view.ts";
import { nextUsableMs, planPods } from "./plan-pods.ts";
import type { DaemonPlan } from "./plan-pods.ts";
import { planUpdate } from "./plan-update.ts";
import { statusOf } from "./status.ts";

/** As upstream's default, should nobody have said. */
const HISTORY_LIMIT = 10;

export const daemonSetController = defineController({
  name: "daemonset-controller",
  for: DaemonSet,
  owns: [Pod, ControllerRevision],
  watches: [
    orphanedPods(DaemonSet, ({ spec }) => spec.selector),
    watching(Node, function* ({ before, after }, cache) {
      if (before !== undefined && after !== undefined && !isNews(before, after)) return;
      for (const { metadata } of cache(DaemonSet).list())
        yield { namespace: metadata.namespace, name: metadata.name };
    }),
  ],
  reconcile,
});

/** Heartbeats are none. */
function isNews(before: Node, after: Node): boolean {
  return (
    !jsonEqual(before.metadata.labels ?? {}, after.metadata.labels ?? {}) ||
    !jsonEqual(before.spec.taints ?? [], after.spec.taints ?? [])
  );
}

async function reconcile(set: DaemonSet, context: ReconcileContext): Promise<Outcome> {
  // Whatever were made for it now would keep it from going.
  if (set.metadata.deletionTimestamp !== undefined) return;
  const pods = await context.claim(Pod, set, set.spec.selector);
  const { all, update, collisionCount } = await ensureRevisions(set, REVISION_HASH, context);
  const hash = update.metadata.labels?.[REVISION_HASH] ?? "";
  const nodes = context.cache(Node).list();
  const view = viewOf(set, { nodes, pods }, { hash, now: context.clock.now() });
  const plan = planAll(view);

  await context.updateStatus(set, statusOf(view, collisionCount));
  await carryOut(view, plan, context);
  await forgetRevisions(planOldRevisions(set, { pods, update, all }), context);
  const waits = [plan.waitMs, nextUsableMs(view)].filter((wait) => wait !== undefined);
  return waits.length === 0 ? undefined : { recheckAfterMs: Math.min(...waits) };
}

/** Templates change only where nothing else is to be done. */
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
  for (const pod of plan.ended) tellEnded(set, pod, context);
  const deleted = await deletePods(set, plan.toDelete, context);
  const manifests = plan.toCreate.map(({ node, failures }) => newDaemon(set, { node, hash, failures }));
  const created = await createPods(set, manifests, context);
  const errors = [...deleted.errors, ...created.errors];
  if (errors.length > 0) throw errors[0];
}

function tellEnded(set: DaemonSet, pod: Pod, context: ReconcileContext): void {
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
