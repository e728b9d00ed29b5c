/**
 * Reads and writes objects on the server, as caches may lag. The collector deletes an object only if the server confirms that its owner is
 * gone.
 */
import type { ApiObject, ResourceType } from "../../api/api-object.ts";
import { isApiError } from "../../api/errors/api-error.ts";
import type { OwnerReference } from "../../api/generated/types/meta-v1.ts";
import { jsonEqual } from "../../api/patch/json-equal.ts";
import type { Client, ResourceClient } from "../../client/client.ts";
import { objectCause, withCause } from "../../runtime/manager/stated-cause.ts";
import type { KnownNode } from "./owner-graph.ts";
import type { Policy } from "./plan-action.ts";

/** Upper bound of tries against concurrent writers; the next check of the object starts over. */
const TRIES_MAX = 4;

export class LiveObjects {
  readonly #client: Client;

  constructor(client: Client) {
    this.#client = client;
  }

  /** Reads metadata only. `unserved`: the server does not know the kind, so the object's existence is unknown. */
  async read(type: ResourceType, place: Place): Promise<ApiObject | "absent" | "unserved"> {
    const { name, namespace } = place;
    try {
      return await this.#client(type).get({ name, namespace }, { form: "metadata" });
    } catch (error) {
      if (!isApiError(error, "NotFound")) throw error;
      return error.details?.name === undefined ? "unserved" : "absent";
    }
  }

  async #find(type: ResourceType, place: Place): Promise<ApiObject | undefined> {
    const found = await this.read(type, place);
    return typeof found === "string" ? undefined : found;
  }

  /**
   * Deletes the object with this uid if its version, or at least its owners and finalizers, are unchanged. No-op if it is gone; rejects if
   * its owners changed.
   */
  async delete(node: KnownNode, object: ApiObject, propagationPolicy: Policy): Promise<void> {
    const note = "no owner is left, or the last one waits for its dependents to go";
    const client = collecting(this.#client, { type: node.resource, object, note })(node.resource);
    const { uid, resourceVersion } = object.metadata;
    const place = placeOf(object);
    try {
      const preconditions = { uid: node.uid, ...(resourceVersion !== undefined && { resourceVersion }) };
      await client.delete(place, { propagationPolicy, preconditions });
    } catch (error) {
      if (isApiError(error, "NotFound")) return;
      if (!isApiError(error, "Conflict")) throw error;
      const newest = await this.#find(node.resource, place);
      if (newest === undefined || newest.metadata.uid !== uid) return;
      if (!hasSameClaims(newest, object)) throw error;
      await ignoreMissing(client.delete(place, { propagationPolicy, preconditions: { uid: node.uid } }));
    }
  }

  /** Dependents in the owner's namespace, or in all namespaces for a cluster-scoped owner. Empty if the kind is not served. */
  async dependentsOf(owner: ApiObject, type: ResourceType): Promise<readonly ApiObject[]> {
    const { namespace = "", uid } = owner.metadata;
    if (namespace !== "" && !type.namespaced) return [];
    const found: ApiObject[] = [];
    try {
      const options = { form: "metadata", ...(namespace !== "" && { namespace }) } as const;
      for await (const { items } of this.#client(type).pages(options))
        found.push(
          ...items.filter(({ metadata }) => metadata.ownerReferences?.some((each) => each.uid === uid)),
        );
    } catch (error) {
      if (!isApiError(error, "NotFound")) throw error;
    }
    return found;
  }

  /** Applies `change` to the newest owner references; skips the write if they stay equal. Undefined if the object is gone. */
  async amendOwners(
    { resource, uid }: Pick<KnownNode, "resource" | "uid">,
    object: ApiObject,
    change: (references: readonly OwnerReference[]) => readonly OwnerReference[],
  ): Promise<ApiObject | undefined> {
    const note = "names an owner that is gone, or that lets it go";
    const client = collecting(this.#client, { type: resource, object, note })(resource);
    let newest: ApiObject | undefined = object;
    for (let tries = 1; newest?.metadata.uid === uid; tries++) {
      const { ownerReferences = [] }: ApiObject["metadata"] = newest.metadata;
      const changed = change(ownerReferences);
      if (jsonEqual(changed, ownerReferences)) return newest;
      try {
        return await patchOwners(client, newest, changed);
      } catch (error) {
        if (isApiError(error, "NotFound")) return undefined;
        if (!isApiError(error, "Conflict") || tries === TRIES_MAX) throw error;
      }
      newest = await this.#find(resource, placeOf(object));
    }
    return undefined;
  }
}

interface Place {
  readonly name: string;
  readonly namespace: string | undefined;
}

function placeOf({ metadata: { name = "", namespace } }: ApiObject): Place {
  return { name, namespace };
}

/** The resourceVersion guards the write against lost concurrent changes. */
async function patchOwners(
  client: ResourceClient<ApiObject>,
  object: ApiObject,
  references: readonly OwnerReference[],
): Promise<ApiObject> {
  const { uid, resourceVersion } = object.metadata;
  const ownerReferences = references.length === 0 ? null : references;
  return await client.patch(placeOf(object), {
    type: "merge",
    changes: { metadata: { uid, resourceVersion, ownerReferences } },
  });
}

function hasSameClaims(left: ApiObject, right: ApiObject): boolean {
  return (
    jsonEqual(left.metadata.ownerReferences ?? [], right.metadata.ownerReferences ?? []) &&
    jsonEqual(left.metadata.finalizers ?? [], right.metadata.finalizers ?? [])
  );
}

async function ignoreMissing(deletion: Promise<void>): Promise<void> {
  try {
    await deletion;
  } catch (error) {
    if (!isApiError(error, "NotFound")) throw error;
  }
}

/** Client whose writes state the object and its owners. An owner is gone, or it waits for the object to go. */
function collecting(
  client: Client,
  { type, object, note }: { readonly type: ResourceType; readonly object: ApiObject; readonly note: string },
): Client {
  const { namespace, ownerReferences = [] } = object.metadata;
  const owners = ownerReferences.map((owner) => ({
    ...objectCause({
      type: owner,
      object: { metadata: { name: owner.name, ...(namespace && { namespace }) } },
    }),
    isGone: true as const,
  }));
  const loop = "garbage-collector";
  return withCause(client, { loop, type, object, note, ...(owners.length > 0 && { reasons: owners }) });
}
