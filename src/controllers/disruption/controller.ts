/**
 * Keeps in the status of each PodDisruptionBudget how many of its pods may be evicted at this moment.
 *
 * Reads PodDisruptionBudgets, Pods and the objects that control them, to know how many pods there should be; writes PodDisruptionBudget status.
 */
import { isApiError } from "../../api/api-error.ts";
import type { ApiObject, ResourceType } from "../../api/api-object.ts";
import { Deployment, ReplicaSet, StatefulSet } from "../../api/generated/types/apps-v1.ts";
import type { Scale } from "../../api/generated/types/autoscaling-v1.ts";
import { Pod, ReplicationController } from "../../api/generated/types/core-v1.ts";
import type { OwnerReference } from "../../api/generated/types/meta-v1.ts";
import { PodDisruptionBudget } from "../../api/generated/types/policy-v1.ts";
import { compileLabelSelector, labelsMatch } from "../../api/label-selector.ts";
import { defineController, watching } from "../../runtime/controller.ts";
import type { CacheReader, Outcome, ReconcileContext } from "../../runtime/controller.ts";
import { controllerOf } from "../../runtime/owner-reference.ts";
import { failedStatus, needsExpected, planBudget } from "./plan-budget.ts";

export const disruptionController = defineController({
  name: "disruption-controller",
  for: PodDisruptionBudget,
  watches: [
    watching(Pod, function* ({ before, after }, cache) {
      const states = [before, after].filter((pod) => pod !== undefined);
      const { namespace = "" } = states[0]?.metadata ?? {};
      for (const budget of cache(PodDisruptionBudget).list({ namespace })) {
        if (states.some((pod) => covers(budget, pod))) yield { namespace, name: budget.metadata.name };
      }
    }),
  ],
  reads: [Deployment, ReplicaSet, StatefulSet, ReplicationController],
  reconcile,
});

async function reconcile(budget: PodDisruptionBudget, context: ReconcileContext): Promise<Outcome> {
  const { cache, clock, event, updateStatus } = context;
  const { namespace = "" } = budget.metadata;
  const pods = cache(Pod)
    .list({ namespace })
    .filter((pod) => covers(budget, pod));
  if (pods.length === 0)
    event(budget, { type: "Normal", reason: "NoPods", message: "No matching pods found" });
  const expected = needsExpected(budget) ? await expectedPods(pods, context) : undefined;
  if (typeof expected === "string") {
    event(budget, { type: "Warning", reason: "CalculateExpectedPodCountFailed", message: expected });
    await updateStatus(budget, failedStatus(budget, expected, clock.now()));
    return undefined;
  }
  const plan = planBudget(budget, { pods, expected, now: clock.now() });
  await updateStatus(budget, plan.status);
  return plan.recheckAfterMs === undefined ? undefined : { recheckAfterMs: plan.recheckAfterMs };
}

/** A budget without a selector covers nothing. */
function covers({ spec, metadata }: PodDisruptionBudget, pod: Pod): boolean {
  if (spec.selector === undefined || pod.metadata.namespace !== metadata.namespace) return false;
  return labelsMatch(compileLabelSelector(spec.selector), pod.metadata.labels);
}

/** The sum of what all controllers of the pods want; a text that says why it cannot be known. */
async function expectedPods(pods: readonly Pod[], context: ReconcileContext): Promise<number | string> {
  const owners = new Map<string, OwnerReference>();
  for (const pod of pods) {
    const owner = controllerOf(pod);
    if (owner === undefined) return `found no controller ref for pod ${JSON.stringify(pod.metadata.name)}`;
    owners.set(owner.uid, owner);
  }
  const { namespace } = pods[0]?.metadata ?? {};
  const sizes = new Map<string, number>();
  for (const owner of owners.values()) {
    const size = await sizeOf(owner, namespace, context);
    if (typeof size === "string") return size;
    sizes.set(size.uid, size.replicas);
  }
  let total = 0;
  for (const replicas of sizes.values()) total += replicas;
  return total;
}

interface Size {
  readonly uid: string;
  readonly replicas: number;
}

interface Scalable extends ApiObject {
  readonly spec: { readonly replicas?: number };
}

const KNOWN: readonly ResourceType<Scalable>[] = [ReplicaSet, StatefulSet, ReplicationController];

async function sizeOf(
  owner: OwnerReference,
  namespace: string | undefined,
  { cache, client }: ReconcileContext,
): Promise<Size | string> {
  const known = KNOWN.find(({ apiVersion, kind }) => apiVersion === owner.apiVersion && kind === owner.kind);
  if (known !== undefined) {
    const object = cache(known).find({ namespace, name: owner.name });
    return object?.metadata.uid === owner.uid ? sizeOfTop(object, cache) : { uid: owner.uid, replicas: 0 };
  }
  const type = await client.findType(owner.apiVersion, owner.kind);
  if (type === undefined) return `${owner.kind} ${owner.name} of ${owner.apiVersion} is not served`;
  try {
    const scale = await client(type).subresource("scale").get({ namespace, name: owner.name });
    return { uid: owner.uid, replicas: (scale as Scale).spec.replicas ?? 0 };
  } catch (error) {
    if (!isApiError(error, "NotFound")) throw error;
    return `${type.plural}.${owner.apiVersion.split("/", 1)[0] ?? ""} does not implement the scale subresource`;
  }
}

/** A ReplicaSet of a Deployment is as large as a rollout makes it at the moment; what counts is the Deployment. */
function sizeOfTop(object: Scalable, cache: CacheReader): Size {
  const owner = controllerOf(object);
  const { namespace, uid = "" } = object.metadata;
  const deployment =
    owner?.kind === "Deployment" ? cache(Deployment).find({ namespace, name: owner.name }) : undefined;
  const top = deployment?.metadata.uid === owner?.uid ? deployment : undefined;
  return { uid: top?.metadata.uid ?? uid, replicas: (top ?? object).spec.replicas ?? 1 };
}
