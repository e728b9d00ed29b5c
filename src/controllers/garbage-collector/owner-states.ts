/** Determines the state of an owner: from the graph to keep a dependent, from the server before a deletion. */
import type { ResourceType } from "../../api/api-object.ts";
import type { OwnerReference } from "../../api/generated/types/meta-v1.ts";
import { RecentMap } from "../../runtime/refs/recent-map.ts";
import type { ServedResources } from "../served-resources.ts";
import { isBeingDeleted, isDeletingDependents } from "./deletion-state.ts";
import type { LiveObjects } from "./live-objects.ts";
import { isElsewhere, isNamedBy } from "./owner-graph.ts";
import type { KnownNode, OwnerGraph } from "./owner-graph.ts";
import type { OwnerState } from "./plan-action.ts";

/**
 * Adds to OwnerState: `unseen` exists, but no cache has it. `unknown` has an unserved kind. `misplaced` is namespaced, but its dependent is
 * not. Dependents of the last two are left alone.
 */
export type FoundState = OwnerState | "unseen" | "unknown" | "misplaced";

/** Upper bound of remembered deleted owners: uids never return, so many dependents cost one request. */
const ABSENT_MAX = 500;

export interface OwnerStatesParts {
  readonly graph: OwnerGraph;
  readonly live: LiveObjects;
  readonly served: () => ServedResources;
}

export class OwnerStates {
  readonly #parts: OwnerStatesParts;
  readonly #absent = new RecentMap<true>(ABSENT_MAX);
  /** Uids of owners whose deletion was observed: they are gone even if their kind is no longer served. */
  readonly #seenGone = new RecentMap<true>(ABSENT_MAX);

  constructor(parts: OwnerStatesParts) {
    this.#parts = parts;
  }

  noteGone(uid: string): void {
    this.#seenGone.set(uid, true);
  }

  /** Rejects if the request to the server fails. */
  async find(node: KnownNode, reference: OwnerReference): Promise<FoundState> {
    if (this.#isInGraph(node, reference)) return "solid";
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
  ): Promise<FoundState> {
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

  /** A kind's objects are deleted before the kind. */
  #unserved(uid: string): FoundState {
    return this.#seenGone.get(uid) === true ? "dangling" : "unknown";
  }

  /** True if the graph has the owner. A stale answer deletes no object, and the change that makes it stale triggers another check. */
  #isInGraph(node: KnownNode, reference: OwnerReference): boolean {
    const owner = this.#parts.graph.find(reference.uid);
    if (owner?.object === undefined || isBeingDeleted(owner.object)) return false;
    return isNamedBy(reference, owner as KnownNode) && !isElsewhere(node, owner.object);
  }
}
