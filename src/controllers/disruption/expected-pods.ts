/** Computes the expected number of pods of a budget from the controllers of the pods it covers. */
import type { ApiObject, ResourceType } from "../../api/api-object.ts";
import { isApiError } from "../../api/errors/api-error.ts";
import { Deployment, ReplicaSet, StatefulSet } from "../../api/generated/types/apps-v1.ts";
import type { Scale } from "../../api/generated/types/autoscaling-v1.ts";
import { ReplicationController } from "../../api/generated/types/core-v1.ts";
import type { Pod } from "../../api/generated/types/core-v1.ts";
import type { OwnerReference } from "../../api/generated/types/meta-v1.ts";
import { isJsonObject } from "../../api/json/json-object.ts";
import type { Client } from "../../client/client.ts";
import type { CacheReader, ReconcileContext } from "../../runtime/controller/controller.ts";
import { controllerOf, groupOf, isOfType } from "../../runtime/refs/owner-reference.ts";

export type ExpectedPods =
  | {
      readonly type: "known";
      /** Sum of the controllers' wanted replicas. */
      readonly count: number;
      /** Some pods have no controller. They are left out of `count`, which stays right for the others. */
      readonly areSomeUnmanaged: boolean;
    }
  | { readonly type: "unknown"; readonly why: string };

export async function expectedPods(pods: readonly Pod[], context: ReconcileContext): Promise<ExpectedPods> {
  const owned = new Map<string, { readonly owner: OwnerReference; readonly pod: Pod }>();
  for (const pod of pods) {
    const owner = controllerOf(pod);
    if (owner !== undefined && !owned.has(owner.uid)) owned.set(owner.uid, { owner, pod });
  }
  const sizes = new Map<string, number>();
  for (const { owner, pod } of owned.values()) {
    const { namespace, name } = pod.metadata;
    const size = await findSize(owner, namespace, context);
    if (typeof size === "string") return { type: "unknown", why: size };
    if (size === undefined)
      return { type: "unknown", why: `found no controllers for pod ${JSON.stringify(name)}` };
    sizes.set(size.uid, size.replicas);
  }
  let count = 0;
  for (const replicas of sizes.values()) count += replicas;
  return { type: "known", count, areSomeUnmanaged: pods.some((pod) => controllerOf(pod) === undefined) };
}

interface Size {
  readonly uid: string;
  readonly replicas: number;
}

interface Scalable extends ApiObject {
  readonly spec: { readonly replicas?: number };
}

const KNOWN: readonly ResourceType<Scalable>[] = [ReplicaSet, StatefulSet, ReplicationController];

/** Undefined if the owner no longer exists; an error text if its kind has no scale. */
async function findSize(
  owner: OwnerReference,
  namespace: string | undefined,
  { cache, client }: ReconcileContext,
): Promise<Size | string | undefined> {
  const known = KNOWN.find((type) => isOfType(owner, type));
  if (known !== undefined) {
    const object = cache(known).find({ namespace, name: owner.name });
    return object?.metadata.uid === owner.uid ? sizeOfTop(object, cache) : undefined;
  }
  const type = await client.findType(owner.apiVersion, owner.kind);
  if (type === undefined)
    return `no matches for kind ${JSON.stringify(owner.kind)} in version ${JSON.stringify(owner.apiVersion)}`;
  try {
    const scale = await client(type).subresource("scale").get({ namespace, name: owner.name });
    const { metadata, spec } = scale as Scale;
    return metadata.uid === owner.uid ? { uid: owner.uid, replicas: spec.replicas ?? 0 } : undefined;
  } catch (error) {
    if (!isApiError(error, "NotFound")) throw error;
    if (await hasScale(type, client)) return undefined;
    const group = groupOf(type.apiVersion);
    const resource = group === "" ? type.plural : `${type.plural}.${group}`;
    return `${resource} does not implement the scale subresource`;
  }
}

/** Distinguishes the reasons of a 404: the object is missing, or its kind has no scale subresource. */
async function hasScale({ apiVersion, plural }: ResourceType, client: Client): Promise<boolean> {
  const path = apiVersion.includes("/") ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
  const document = await client.request({ path });
  const resources = isJsonObject(document) ? document["resources"] : undefined;
  return (
    Array.isArray(resources) &&
    resources.some((each) => isJsonObject(each) && each["name"] === `${plural}/scale`)
  );
}

/** A Deployment's replicas replace its ReplicaSet's: the latter vary during a rollout. */
function sizeOfTop(object: Scalable, cache: CacheReader): Size {
  const owner = controllerOf(object);
  const { namespace, uid = "" } = object.metadata;
  const isRollout = owner !== undefined && isOfType(owner, Deployment);
  const deployment = isRollout ? cache(Deployment).find({ namespace, name: owner.name }) : undefined;
  const top = deployment?.metadata.uid === owner?.uid ? deployment : undefined;
  return { uid: top?.metadata.uid ?? uid, replicas: (top ?? object).spec.replicas ?? 1 };
}
