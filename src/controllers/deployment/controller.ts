/**
 * Keeps the pods of each Deployment at its template and its number, and changes from one template to the next in the way the Deployment asks
 * for.
 *
 * Reads Deployments, their ReplicaSets and, for those that are replaced at once, Pods. Creates, sizes and deletes ReplicaSets that a Deployment
 * controls, adopts and lets go of them by selector; writes Deployment status and the revision annotation. Pods are the ReplicaSets' business.
 */
import { Deployment, ReplicaSet } from "../../api/generated/types/apps-v1.ts";
import type { DeploymentStatus } from "../../api/generated/types/apps-v1.ts";
import { Pod } from "../../api/generated/types/core-v1.ts";
import { isTerminal } from "../../resources/pod/pod-state.ts";
import { defineController, watching } from "../../runtime/controller/controller.ts";
import type { CacheReader, Outcome, ReconcileContext } from "../../runtime/controller/controller.ts";
import { controllerOf } from "../../runtime/refs/owner-reference.ts";
import { planCleanup } from "./cleanup.ts";
import { ensureNewSet, tellScaled } from "./new-set.ts";
import { isScaling, planRollingUpdate, planScaling } from "./plan-scales.ts";
import type { SetScale } from "./plan-scales.ts";
import { REVISION, revisionOf, scaleAnnotations } from "./revision.ts";
import { findRollback, planRollback } from "./rollback.ts";
import { allSets, isActiveSet, rolloutOf, wantedOf } from "./rollout.ts";
import type { Rollout } from "./rollout.ts";
import { isComplete, planStatus } from "./status.ts";

export const deploymentController = defineController({
  name: "deployment-controller",
  for: Deployment,
  owns: [ReplicaSet],
  watches: [
    watching(Pod, function* ({ before, after }, cache) {
      // Only the end of a pod matters, and only to Deployments that wait for it.
      const set = before === undefined ? undefined : findSet(before, cache);
      const owner = set === undefined ? undefined : controllerOf(set);
      const isEnd = after === undefined || isTerminal(after);
      if (owner?.kind === "Deployment" && isEnd)
        yield { namespace: set?.metadata.namespace, name: owner.name };
    }),
  ],
  reconcile,
});

async function reconcile(deployment: Deployment, context: ReconcileContext): Promise<Outcome> {
  const sets = await context.claim(ReplicaSet, deployment, deployment.spec.selector);
  const found = rolloutOf(deployment, sets);
  const revision = findRollback(deployment);
  if (revision !== undefined) return await rollBack(deployment, { revision, found, context });
  const plan = planPass(deployment, found, context.cache);
  const ensured = await ensureNewSet(deployment, found, { context, mayCreate: plan.mayCreate });
  const shown = await showRevision(deployment, ensured.rollout, context);

  const rollout = await applyScales(deployment, {
    rollout: ensured.rollout,
    scales: plan.scales(ensured.rollout),
    context,
  });
  const findings = { ...ensured, now: context.clock.now() };
  const { status, recheckAfterMs } = planStatus(deployment, rollout, findings);
  const written = await context.updateStatus(shown, status);
  if (mayForget(written, status)) await cleanUp(written, rollout, context);
  if (ensured.error !== undefined) throw ensured.error;
  // A deadline is nothing to be done: a world that only waits for it is quiet.
  return recheckAfterMs === undefined ? undefined : { recheckAfterMs, timer: "periodic" };
}

/** What it brings about is the business of the next pass. */
async function rollBack(
  deployment: Deployment,
  {
    revision,
    found,
    context,
  }: { readonly revision: bigint; readonly found: Rollout; readonly context: ReconcileContext },
): Promise<void> {
  const { rollout, error } = await ensureNewSet(deployment, found, { context, mayCreate: true });
  if (error !== undefined) throw error;
  const { changed, event } = planRollback(deployment, revision, rollout);
  await context.client(Deployment).update(changed);
  context.event(deployment, event);
}

interface PassPlan {
  /** Whether a set for the present template may be made in this pass. */
  readonly mayCreate: boolean;
  readonly scales: (rollout: Rollout) => readonly SetScale[];
}

/** What kind of pass this is. One that follows a new size moves nothing else; a paused one makes nothing new. */
function planPass(deployment: Deployment, rollout: Rollout, cache: CacheReader): PassPlan {
  const { metadata, spec } = deployment;
  if (metadata.deletionTimestamp !== undefined) return { mayCreate: false, scales: () => [] };
  if (spec.paused === true || (isScaling(deployment, rollout) && !isReplacing(deployment, rollout))) {
    return { mayCreate: false, scales: (ensured) => planScaling(deployment, ensured) };
  }
  if (spec.strategy.type !== "Recreate") {
    return { mayCreate: true, scales: (ensured) => planRollingUpdate(deployment, ensured) };
  }
  const active = rollout.oldSets.filter(isActiveSet);
  const mayCreate = active.length === 0 && !hasPods(rollout.oldSets, cache);
  return { mayCreate, scales: (ensured) => planReplacement(deployment, ensured, mayCreate) };
}

/** Sets that are to go at once have no share in a new size: nobody would size them, and nothing would happen any more. */
function isReplacing({ spec }: Deployment, rollout: Rollout): boolean {
  return spec.strategy.type === "Recreate" && allSets(rollout).filter(isActiveSet).length > 1;
}

/** All old pods go before the first new one comes. */
function planReplacement(
  deployment: Deployment,
  { newSet, oldSets }: Rollout,
  areOldGone: boolean,
): readonly SetScale[] {
  if (!areOldGone) return oldSets.filter(isActiveSet).map((set) => ({ set, replicas: 0 }));
  const replicas = wantedOf(deployment);
  return newSet === undefined || wantedOf(newSet) === replicas ? [] : [{ set: newSet, replicas }];
}

/** Pods that have not ended, those on their way out included. */
function hasPods(sets: readonly ReplicaSet[], cache: CacheReader): boolean {
  return sets.some((set) =>
    cache(Pod)
      .ownedBy(set)
      .some((pod) => !isTerminal(pod)),
  );
}

async function applyScales(
  deployment: Deployment,
  {
    rollout,
    scales,
    context,
  }: { readonly rollout: Rollout; readonly scales: readonly SetScale[]; readonly context: ReconcileContext },
): Promise<Rollout> {
  const written = new Map<ReplicaSet, ReplicaSet>();
  for (const { set, replicas } of scales) {
    const annotations = { ...set.metadata.annotations, ...scaleAnnotations(deployment) };
    const changed = { ...set, metadata: { ...set.metadata, annotations }, spec: { ...set.spec, replicas } };
    written.set(set, await context.client(ReplicaSet).update(changed));
    const from = wantedOf(set);
    if (replicas !== from) tellScaled(deployment, context, { set, from, to: replicas });
  }
  const newest = (set: ReplicaSet): ReplicaSet => written.get(set) ?? set;
  const { newSet, oldSets } = rollout;
  return { newSet: newSet === undefined ? undefined : newest(newSet), oldSets: oldSets.map(newest) };
}

/** `kubectl rollout` reads the present revision from the Deployment. Written with the status, it makes no new generation. */
async function showRevision(
  deployment: Deployment,
  { newSet }: Rollout,
  context: ReconcileContext,
): Promise<Deployment> {
  if (newSet === undefined || revisionOf(newSet) === revisionOf(deployment)) return deployment;
  const changes = { metadata: { annotations: { [REVISION]: String(revisionOf(newSet)) } } };
  return await context
    .client(Deployment)
    .patch(deployment, { type: "merge", changes }, { subresource: "status" });
}

/** Not in the middle of a change, unless somebody has stopped it there. */
function mayForget(deployment: Deployment, status: DeploymentStatus): boolean {
  if (deployment.metadata.deletionTimestamp !== undefined) return false;
  return deployment.spec.paused === true || isComplete(deployment, status);
}

async function cleanUp(
  deployment: Deployment,
  { oldSets }: Rollout,
  context: ReconcileContext,
): Promise<void> {
  for (const set of planCleanup(deployment, oldSets)) await context.client(ReplicaSet).delete(set);
}

function findSet(pod: Pod, cache: CacheReader): ReplicaSet | undefined {
  const owner = controllerOf(pod);
  if (owner?.kind !== "ReplicaSet") return undefined;
  return cache(ReplicaSet).find({ namespace: pod.metadata.namespace, name: owner.name });
}
