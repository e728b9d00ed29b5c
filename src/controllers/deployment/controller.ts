/**
 * Keeps each Deployment's pods at its template and size, and rolls out template changes by its strategy.
 *
 * Reads Deployments, their ReplicaSets and, for strategy Recreate, Pods. Creates, scales and deletes ReplicaSets, adopts and releases them
 * by selector. Writes Deployment status and the revision annotation; never writes Pods.
 */
import { Deployment, ReplicaSet } from "../../api/generated/types/apps-v1.ts";
import type { DeploymentStatus } from "../../api/generated/types/apps-v1.ts";
import { Pod } from "../../api/generated/types/core-v1.ts";
import { isTerminal } from "../../resources/pod/pod-state.ts";
import { defineController, watching } from "../../runtime/controller/controller.ts";
import type { CacheReader, Outcome, ReconcileContext } from "../../runtime/controller/controller.ts";
import { controllerOf, isOfType } from "../../runtime/refs/owner-reference.ts";
import { planCleanup } from "./cleanup.ts";
import { isComplete, planStatus } from "./deployment-status.ts";
import { ensureNewSet, reportScaled } from "./new-set.ts";
import { isScaling, planRollingUpdate, planScaling } from "./plan-scales.ts";
import type { SetScale } from "./plan-scales.ts";
import { REVISION, revisionOf, scaleAnnotations } from "./revision.ts";
import { findRollback, planRollback } from "./rollback.ts";
import { allSets, isActiveSet, rolloutOf, wantedOf } from "./rollout.ts";
import type { Rollout } from "./rollout.ts";

export const deploymentController = defineController({
  name: "deployment-controller",
  for: Deployment,
  owns: [ReplicaSet],
  watches: [
    watching(Pod, function* ({ before, after }, cache) {
      // Only the end of a pod matters: a Recreate rollout waits for it.
      const set = before === undefined ? undefined : findSet(before, cache);
      const owner = set === undefined ? undefined : controllerOf(set);
      const isEnd = after === undefined || isTerminal(after);
      if (owner !== undefined && isOfType(owner, Deployment) && isEnd)
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
  const shown = await recordRevision(deployment, ensured.rollout, context);

  const rollout = await applyScales(deployment, {
    rollout: ensured.rollout,
    scales: plan.scales(ensured.rollout),
    context,
  });
  const findings = { ...ensured, now: context.clock.now() };
  const { status, recheckAfterMs } = planStatus(deployment, rollout, findings);
  const written = await context.updateStatus(shown, status);
  if (mayCleanUp(written, status)) await cleanUp(written, rollout, context);
  if (ensured.error !== undefined) throw ensured.error;
  // Periodic timer: waiting for a deadline does not count as pending work.
  return recheckAfterMs === undefined ? undefined : { recheckAfterMs, timer: "periodic" };
}

/** The template change triggers the next pass, which rolls it out. */
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
  /** True if this pass may create the ReplicaSet of the current template. */
  readonly mayCreate: boolean;
  readonly scales: (rollout: Rollout) => readonly SetScale[];
}

/** Selects the kind of pass. A scaling pass does not advance a rollout; a paused pass creates no ReplicaSet. */
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

/** During a Recreate rollout, several active sets are replaced, not scaled: planScaling would skip them for ever. */
function isReplacing({ spec }: Deployment, rollout: Rollout): boolean {
  return spec.strategy.type === "Recreate" && allSets(rollout).filter(isActiveSet).length > 1;
}

/** Recreate: all old pods end before the first new one is created. */
function planReplacement(
  deployment: Deployment,
  { newSet, oldSets }: Rollout,
  areOldGone: boolean,
): readonly SetScale[] {
  if (!areOldGone) return oldSets.filter(isActiveSet).map((set) => ({ set, replicas: 0 }));
  const replicas = wantedOf(deployment);
  return newSet === undefined || wantedOf(newSet) === replicas ? [] : [{ set: newSet, replicas }];
}

/** True if a pod has not ended; terminating pods count. */
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
    if (replicas !== from) reportScaled(deployment, context, { set, from, to: replicas });
  }
  const newest = (set: ReplicaSet): ReplicaSet => written.get(set) ?? set;
  const { newSet, oldSets } = rollout;
  return { newSet: newSet === undefined ? undefined : newest(newSet), oldSets: oldSets.map(newest) };
}

/** `kubectl rollout` reads the current revision from the Deployment. The status subresource leaves its generation unchanged. */
async function recordRevision(
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

/** Old sets are deleted only after a complete rollout, or while it is paused. */
function mayCleanUp(deployment: Deployment, status: DeploymentStatus): boolean {
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
  if (owner === undefined || !isOfType(owner, ReplicaSet)) return undefined;
  return cache(ReplicaSet).find({ namespace: pod.metadata.namespace, name: owner.name });
}
