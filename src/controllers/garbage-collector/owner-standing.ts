/** How an owner stands: from the graph where that is enough to keep a dependent, from the server before anything is deleted. */
import type { ResourceType } from "../../api/api-object.ts";
import type { OwnerReference } from "../../api/generated/types/meta-v1.ts";
import { RecentMap } from "../../runtime/refs/recent-map.ts";
import type { ServedResources } from "../served-resources.ts";
import { isBeingDeleted, isDeletingDependents } from "./deletion-state.ts";
import type { LiveObjects } from "./live-objects.ts";
import { isElsewhere, isNamedBy } from "./owner-graph.ts";
import type { KnownNode, OwnerGraph } from "./owner-graph.ts";
import type { Standing } from "./plan-fate.ts";

/**
 * Besides the standings: `unseen` is there, but no cache knows of it. `unknown` is of a kind that is not served at the moment, and `misplaced`
 * lies in a namespace while the dependent lies in none: about such owners nothing can be said, and their dependents are left alone.
 */
export type FoundStanding = Standing | "unseen" | "unknown" | "misplaced";

/** Owners that are gone for good: uids do not come back. Many dependents of one owner ask once. */
const ABSENT_MAX = 500;

export interface StandingParts {
  readonly graph: OwnerGraph;
  readonly live: LiveObjects;
  readonly served: () => ServedResources;
}

export class OwnerStandings {
  readonly #parts: StandingParts;
  readonly #absent = new RecentMap<true>(ABSENT_MAX);
  /** Owners whose deletion was seen, by uid: they are gone even if nobody can be asked about them any more. */
  readonly #seenGone = new RecentMap<true>(ABSENT_MAX);

  constructor(parts: StandingParts) {
    this.#parts = parts;
  }

  noteGone(uid: string): void {
    this.#seenGone.set(uid, true);
  }

  /** Rejects when the server does not say. */
  async find(node: KnownNode, reference: OwnerReference): Promise<FoundStanding> {
    if (this.#isPlainlyThere(node, reference)) return "solid";
    const { apiVersion, kind, uid } = reference;
    const type = this.#parts.served().findType(apiVersion, kind);
    if (type === undefined) return this.#unserved(uid);
    const namespace = type.namespaced ? node.object.metadata.namespace : undefined;
    if (type.namespaced && namespace === undefined) return "misplaced";
    return await this.#ask(type, reference, namespace);
  }

  async #ask(
    type: ResourceType,
    reference: OwnerReference,
    namespace: string | undefined,
  ): Promise<FoundStanding> {
    const { graph, live } = this.#parts;
    const { apiVersion, kind, name, uid } = reference;
    const place = [uid, apiVersion, kind, namespace, name].join(" ");
    if (this.#absent.get(place) === true) return "dangling";
    const owner = await live.read(type, { name, namespace });
    if (owner === "unserved") return this.#unserved(uid);
    if (owner === "absent" || owner.metadata.uid !== uid) {
      this.#absent.set(place, true);
      return "dangling";
    }
    if (isDeletingDependents(owner)) return "waiting";
    return graph.find(uid)?.object === undefined ? "unseen" : "solid";
  }

  /** Objects go before their kind does. */
  #unserved(uid: string): FoundStanding {
    return this.#seenGone.get(uid) === true ? "dangling" : "unknown";
  }

  /** Being wrong about this deletes nothing, and the change that makes it wrong is a reason to look again. */
  #isPlainlyThere(node: KnownNode, reference: OwnerReference): boolean {
    const owner = this.#parts.graph.find(reference.uid);
    if (owner?.object === undefined || isBeingDeleted(owner.object)) return false;
    return isNamedBy(reference, owner as KnownNode) && !isElsewhere(node, owner.object);
  }
}
