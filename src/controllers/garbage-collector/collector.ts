/** Looks at one object of the graph and does what is due: deletes it, lets it go of owners, or ends its own deletion. */
import type { ApiObject } from "../../api/api-object.ts";
import type { OwnerReference } from "../../api/generated/types/meta-v1.ts";
import type { Client } from "../../client/client.ts";
import { removeFinalizer } from "../../runtime/controller/finalizer.ts";
import type { ServedResource, ServedResources } from "../served-resources.ts";
import { FOREGROUND, isBeingDeleted, isDeletingDependents, isOrphaning, ORPHAN } from "./deletion-state.ts";
import { LiveObjects } from "./live-objects.ts";
import { ownersOf } from "./owner-graph.ts";
import type { GraphNode, KnownNode, OwnerGraph } from "./owner-graph.ts";
import { OwnerStandings } from "./owner-standing.ts";
import type { FoundStanding } from "./owner-standing.ts";
import { planFate } from "./plan-fate.ts";
import type { Fate, StandingOwner } from "./plan-fate.ts";

/** So many dependents of one owner are let go at once. */
const RELEASE_PARALLEL = 20;

/** `unsettled`: something about its owners could not be found out, and is looked at again by and by. */
export type LookResult = "settled" | "unsettled";

export interface CollectorParts {
  readonly graph: OwnerGraph;
  readonly client: Client;
  readonly served: () => ServedResources;
  /** Resources of which the graph may not know everything that was there when this version was written. */
  readonly behind: (version: string) => readonly ServedResource[];
  readonly look: (uid: string) => void;
}

export class Collector {
  readonly #parts: CollectorParts;
  readonly #live: LiveObjects;
  readonly #standings: OwnerStandings;

  constructor(parts: CollectorParts) {
    const { graph, client, served } = parts;
    this.#parts = parts;
    this.#live = new LiveObjects(client);
    this.#standings = new OwnerStandings({ graph, live: this.#live, served });
  }

  /** The server has told of the deletion of an object that has dependents. */
  noteGone(uid: string): void {
    this.#standings.noteGone(uid);
  }

  /** Rejects when something was refused or has changed meanwhile: then it is to be looked at again. */
  async look(uid: string): Promise<LookResult> {
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

  async #judge(node: KnownNode): Promise<LookResult> {
    const { object } = node;
    const references = ownersOf(object);
    if (references.length === 0) return "settled";
    const found: { readonly reference: OwnerReference; readonly standing: FoundStanding }[] = [];
    for (const reference of references)
      found.push({ reference, standing: await this.#standings.find(node, reference) });
    if (found.some(({ standing }) => standing === "misplaced")) return "settled";
    if (found.some(({ standing }) => standing === "unknown")) return "unsettled";
    const owners = found.map(({ reference, standing }): StandingOwner => {
      return { reference, standing: isStanding(standing) ? standing : "solid" };
    });
    await this.#carryOut(planFate(object, owners, objectsOf(node.dependents)), node, object);
    return found.some(({ standing }) => standing === "unseen") ? "unsettled" : "settled";
  }

  async #carryOut(fate: Fate, node: KnownNode, object: ApiObject): Promise<void> {
    switch (fate.type) {
      case "keep":
        return;
      case "release": {
        const gone = new Set(fate.uids);
        const without = (references: readonly OwnerReference[]): readonly OwnerReference[] =>
          references.filter(({ uid }) => !gone.has(uid));
        await this.#live.amendOwners(node, object, without);
        return;
      }
      case "delete": {
        const newest = fate.unblocks ? await this.#live.amendOwners(node, object, withoutBlocking) : object;
        if (newest !== undefined) await this.#live.delete(node, newest, fate.policy);
        return;
      }
    }
  }

  /** The object may go once no dependent blocks it; those that do are seen to. */
  async #awaitDependents({ uid, object, resource, dependents }: KnownNode): Promise<void> {
    const blocking = [...(dependents ?? [])].filter((dependent) => isBlocking(dependent, uid));
    if (blocking.length === 0) {
      await removeFinalizer(this.#parts.client(resource), object, FOREGROUND);
      return;
    }
    for (const dependent of blocking)
      if (dependent.object !== undefined && !isDeletingDependents(dependent.object))
        this.#parts.look(dependent.uid);
  }

  /** First all dependents let go of it, then it may go. */
  async #orphan({ uid, object, resource, dependents }: KnownNode): Promise<void> {
    const all = [...(dependents ?? [])].filter((dependent) => dependent.object !== undefined) as KnownNode[];
    const without = (references: readonly OwnerReference[]): readonly OwnerReference[] =>
      references.filter((reference) => reference.uid !== uid);
    for (let at = 0; at < all.length; at += RELEASE_PARALLEL) {
      const batch = all.slice(at, at + RELEASE_PARALLEL);
      await Promise.all(batch.map((each) => this.#live.amendOwners(each, each.object, without)));
    }
    await this.#releaseLate(object, without);
    await removeFinalizer(this.#parts.client(resource), object, ORPHAN);
  }

  /** A dependent that was made just before, and that no cache has told of yet, would be taken for garbage once the owner is gone. */
  async #releaseLate(owner: ApiObject, change: Parameters<LiveObjects["amendOwners"]>[2]): Promise<void> {
    for (const resource of this.#parts.behind(owner.metadata.resourceVersion ?? "")) {
      for (const dependent of await this.#live.dependentsOf(owner, resource)) {
        const { uid = "" } = dependent.metadata;
        await this.#live.amendOwners({ resource, uid }, dependent, change);
      }
    }
  }
}

function isStanding(found: FoundStanding): found is StandingOwner["standing"] {
  return found === "solid" || found === "waiting" || found === "dangling";
}

/** Nothing waits for itself. */
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
