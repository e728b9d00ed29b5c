/** Processes one object of the graph: deletes it, removes owner references, or completes its deletion. */
import type { ApiObject } from "../../api/api-object.ts";
import type { OwnerReference } from "../../api/generated/types/meta-v1.ts";
import type { Client, ResourceClient } from "../../client/client.ts";
import { removeFinalizer } from "../../runtime/controller/finalizer.ts";
import { withCause, type StatedCause } from "../../runtime/manager/stated-cause.ts";
import type { ServedResource, ServedResources } from "../served-resources.ts";
import { FOREGROUND, isBeingDeleted, isDeletingDependents, isOrphaning, ORPHAN } from "./deletion-state.ts";
import { LiveObjects } from "./live-objects.ts";
import { ownersOf } from "./owner-graph.ts";
import type { GraphNode, KnownNode, OwnerGraph } from "./owner-graph.ts";
import { OwnerStates } from "./owner-states.ts";
import type { FoundState } from "./owner-states.ts";
import { planAction } from "./plan-action.ts";
import type { CollectorAction, OwnerWithState } from "./plan-action.ts";

/** Upper bound of an owner's dependents released concurrently. */
const RELEASE_PARALLEL = 20;

/** `unsettled`: the state of an owner is unknown, so the object is checked again later. */
export type ProcessResult = "settled" | "unsettled";

export interface CollectorParts {
  readonly graph: OwnerGraph;
  readonly client: Client;
  readonly served: () => ServedResources;
  /** Resources whose cache may lag behind this resource version. */
  readonly behind: (version: string) => readonly ServedResource[];
  readonly enqueue: (uid: string) => void;
}

export class Collector {
  readonly #parts: CollectorParts;
  readonly #live: LiveObjects;
  readonly #owners: OwnerStates;

  constructor(parts: CollectorParts) {
    const { graph, client, served } = parts;
    this.#parts = parts;
    this.#live = new LiveObjects(client);
    this.#owners = new OwnerStates({ graph, live: this.#live, served });
  }

  /** Records that an object with dependents was deleted. */
  noteGone(uid: string): void {
    this.#owners.noteGone(uid);
  }

  /** Rejects if a write was refused or the object changed; the caller retries. */
  async process(uid: string): Promise<ProcessResult> {
    const node = this.#parts.graph.find(uid);
    if (node?.object === undefined) return "settled";
    const known = node as KnownNode;
    if (isBeingDeleted(known.object)) {
      if (isOrphaning(known.object)) await this.#orphan(known);
      else if (isDeletingDependents(known.object)) await this.#awaitDependents(known);
      return "settled";
    }
    return await this.#judge(known);
  }

  async #judge(node: KnownNode): Promise<ProcessResult> {
    const { object } = node;
    const references = ownersOf(object);
    if (references.length === 0) return "settled";
    const found: { readonly reference: OwnerReference; readonly state: FoundState }[] = [];
    for (const reference of references)
      found.push({ reference, state: await this.#owners.find(node, reference) });
    if (found.some(({ state }) => state === "misplaced")) return "settled";
    if (found.some(({ state }) => state === "unknown")) return "unsettled";
    const owners = found.map(({ reference, state }): OwnerWithState => {
      return { reference, state: isOwnerState(state) ? state : "solid" };
    });
    await this.#carryOut(planAction(object, owners, objectsOf(node.dependents)), node, object);
    return found.some(({ state }) => state === "unseen") ? "unsettled" : "settled";
  }

  async #carryOut(action: CollectorAction, node: KnownNode, object: ApiObject): Promise<void> {
    switch (action.type) {
      case "keep":
        return;
      case "release": {
        const gone = new Set(action.uids);
        const without = (references: readonly OwnerReference[]): readonly OwnerReference[] =>
          references.filter(({ uid }) => !gone.has(uid));
        await this.#live.amendOwners(node, object, without);
        return;
      }
      case "delete": {
        const newest = action.unblocks ? await this.#live.amendOwners(node, object, withoutBlocking) : object;
        if (newest !== undefined) await this.#live.delete(node, newest, action.policy);
        return;
      }
    }
  }

  /** Removes the finalizer once no dependent blocks the owner; otherwise enqueues the blocking dependents. */
  async #awaitDependents({ uid, object, resource, dependents }: KnownNode): Promise<void> {
    const blocking = [...(dependents ?? [])].filter((dependent) => isBlocking(dependent, uid));
    if (blocking.length === 0) {
      const note = "has no dependents left that it must wait for";
      await removeFinalizer(this.#releasing({ type: resource, object, note }), object, FOREGROUND);
      return;
    }
    for (const dependent of blocking)
      if (dependent.object !== undefined && !isDeletingDependents(dependent.object))
        this.#parts.enqueue(dependent.uid);
  }

  /** Removes the owner from all dependents, then removes the finalizer. */
  async #orphan({ uid, object, resource, dependents }: KnownNode): Promise<void> {
    const all = [...(dependents ?? [])].filter((dependent) => dependent.object !== undefined) as KnownNode[];
    const without = (references: readonly OwnerReference[]): readonly OwnerReference[] =>
      references.filter((reference) => reference.uid !== uid);
    for (let at = 0; at < all.length; at += RELEASE_PARALLEL) {
      const batch = all.slice(at, at + RELEASE_PARALLEL);
      await Promise.all(batch.map((each) => this.#live.amendOwners(each, each.object, without)));
    }
    await this.#releaseLate(object, without);
    const note = "has released its dependents";
    await removeFinalizer(this.#releasing({ type: resource, object, note }), object, ORPHAN);
  }

  #releasing(stated: Omit<StatedCause, "loop">): ResourceClient<ApiObject> {
    return withCause(this.#parts.client, { loop: "garbage-collector", ...stated })(
      stated.type as ServedResource,
    );
  }

  /** Releases dependents created so recently that no cache has them. They would be deleted once the owner is gone. */
  async #releaseLate(owner: ApiObject, change: Parameters<LiveObjects["amendOwners"]>[2]): Promise<void> {
    for (const resource of this.#parts.behind(owner.metadata.resourceVersion ?? "")) {
      for (const dependent of await this.#live.dependentsOf(owner, resource)) {
        const { uid = "" } = dependent.metadata;
        await this.#live.amendOwners({ resource, uid }, dependent, change);
      }
    }
  }
}

function isOwnerState(found: FoundState): found is OwnerWithState["state"] {
  return found === "solid" || found === "waiting" || found === "dangling";
}

/** An object that owns itself does not block itself. */
function isBlocking({ uid: own, object }: GraphNode, owner: string): boolean {
  return (
    own !== owner &&
    object !== undefined &&
    ownersOf(object).some(({ uid, blockOwnerDeletion }) => uid === owner && blockOwnerDeletion === true)
  );
}

function objectsOf(nodes: ReadonlySet<GraphNode> | undefined): readonly ApiObject[] {
  return [...(nodes ?? [])].flatMap(({ object }) => object ?? []);
}

function withoutBlocking(references: readonly OwnerReference[]): readonly OwnerReference[] {
  return references.map((reference) =>
    reference.blockOwnerDeletion === true ? { ...reference, blockOwnerDeletion: false } : reference,
  );
}
