/** Finds, creates and updates the ReplicaSet of a Deployment's current template. */
import type { Manifest } from "../../api/api-object.ts";
import { isApiError } from "../../api/errors/api-error.ts";
import { ReplicaSet } from "../../api/generated/types/apps-v1.ts";
import type { Deployment } from "../../api/generated/types/apps-v1.ts";
import { templateHash } from "../../resources/workloads/template-hash.ts";
import type { ReconcileContext } from "../../runtime/controller/controller.ts";
import { isControlledBy, ownerReferenceTo } from "../../runtime/refs/owner-reference.ts";
import { textOf } from "../pods/pod-changes.ts";
import { isNamespaceTerminating } from "../terminating-namespace.ts";
import { CREATE_ERROR } from "./deployment-status.ts";
import type { NewSetResult } from "./deployment-status.ts";
import { newSetReplicas } from "./plan-scales.ts";
import { haveSameAnnotations, newSetAnnotations, nextRevision, scaleAnnotations } from "./revision.ts";
import { matchesTemplate, TEMPLATE_HASH } from "./rollout.ts";
import type { Rollout } from "./rollout.ts";

export interface EnsuredSet {
  readonly rollout: Rollout;
  readonly news: NewSetResult | undefined;
  /** Incremented if another ReplicaSet has the name of the new set. */
  readonly collisionCount: number | undefined;
  /** Error that prevented the creation of the set. */
  readonly error?: Error;
}

/** Creates the set only if `mayCreate`; an existing set is updated in any case. */
export async function ensureNewSet(
  deployment: Deployment,
  rollout: Rollout,
  { context, mayCreate }: { readonly context: ReconcileContext; readonly mayCreate: boolean },
): Promise<EnsuredSet> {
  const { collisionCount } = deployment.status;
  if (rollout.newSet !== undefined) {
    const newSet = await syncSet(deployment, { newSet: rollout.newSet, rollout, context });
    return { rollout: { ...rollout, newSet }, news: "found", collisionCount };
  }
  if (!mayCreate) return { rollout, news: undefined, collisionCount };
  return await createSet(deployment, rollout, context);
}

async function syncSet(
  deployment: Deployment,
  {
    newSet,
    rollout,
    context,
  }: { readonly newSet: ReplicaSet; readonly rollout: Rollout; readonly context: ReconcileContext },
): Promise<ReplicaSet> {
  const { metadata, spec } = newSet;
  const annotations = newSetAnnotations(deployment, metadata.annotations, nextRevision(rollout.oldSets));
  const minReadySeconds = deployment.spec.minReadySeconds ?? 0;
  const isSame = (spec.minReadySeconds ?? 0) === minReadySeconds && haveSameAnnotations(newSet, annotations);
  if (isSame) return newSet;
  const changed = { ...newSet, metadata: { ...metadata, annotations }, spec: { ...spec, minReadySeconds } };
  return await context.client(ReplicaSet).update(changed);
}

async function createSet(
  deployment: Deployment,
  rollout: Rollout,
  context: ReconcileContext,
): Promise<EnsuredSet> {
  const { collisionCount } = deployment.status;
  const manifest = newSetManifest(deployment, rollout);
  try {
    const newSet = await context.client(ReplicaSet).create(manifest);
    const replicas = newSet.spec.replicas ?? 0;
    if (replicas > 0) reportScaled(deployment, context, { set: newSet, from: 0, to: replicas });
    return { rollout: { ...rollout, newSet }, news: "created", collisionCount };
  } catch (error) {
    const name = manifest.metadata?.name ?? "";
    if (isNamespaceTerminating(error)) return { rollout, news: undefined, collisionCount };
    if (isApiError(error, "AlreadyExists"))
      return await afterCollision(deployment, rollout, { context, name, error });
    const failure = `Failed to create new replica set ${JSON.stringify(name)}: ${textOf(error)}`;
    context.event(deployment, { type: "Warning", reason: CREATE_ERROR, message: failure });
    return { rollout, news: { failure }, collisionCount, error: error as Error };
  }
}

/** Either the cache lags and the set exists, or two templates have the same hash. The latter changes the name of the next try. */
async function afterCollision(
  deployment: Deployment,
  rollout: Rollout,
  {
    context,
    name,
    error,
  }: { readonly context: ReconcileContext; readonly name: string; readonly error: Error },
): Promise<EnsuredSet> {
  const { namespace } = deployment.metadata;
  const { collisionCount } = deployment.status;
  const live = await context.client(ReplicaSet).find({ namespace, name });
  const isOurs = live !== undefined && isControlledBy(live, deployment);
  if (isOurs && matchesTemplate(live, deployment.spec.template)) {
    return { rollout: { ...rollout, newSet: live }, news: "found", collisionCount };
  }
  return { rollout, news: undefined, collisionCount: (collisionCount ?? 0) + 1, error };
}

function newSetManifest(deployment: Deployment, rollout: Rollout): Manifest<ReplicaSet> {
  const { metadata, spec, status } = deployment;
  const hash = templateHash(spec.template, status.collisionCount);
  const labels = { ...spec.template.metadata.labels, [TEMPLATE_HASH]: hash };
  const annotations = newSetAnnotations(deployment, undefined, nextRevision(rollout.oldSets));
  return {
    metadata: {
      name: `${metadata.name}-${hash}`,
      ...(metadata.namespace !== undefined && { namespace: metadata.namespace }),
      labels,
      annotations: { ...annotations, ...scaleAnnotations(deployment) },
      ownerReferences: [ownerReferenceTo(deployment)],
    },
    spec: {
      replicas: newSetReplicas(deployment, rollout),
      minReadySeconds: spec.minReadySeconds ?? 0,
      selector: { ...spec.selector, matchLabels: { ...spec.selector.matchLabels, [TEMPLATE_HASH]: hash } },
      template: { ...spec.template, metadata: { ...spec.template.metadata, labels } },
    },
  };
}

export interface SetResize {
  readonly set: ReplicaSet;
  readonly from: number;
  readonly to: number;
}

export function reportScaled(
  deployment: Deployment,
  context: ReconcileContext,
  { set, from, to }: SetResize,
): void {
  const direction = to > from ? "up" : "down";
  const message = `Scaled ${direction} replica set ${set.metadata.name} from ${String(from)} to ${String(to)}`;
  context.event(deployment, { type: "Normal", reason: "ScalingReplicaSet", message });
}
