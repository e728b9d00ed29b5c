/**
 * Graph of owners and dependents by uid, as the caches report them.
 *
 * An owner that is known only from references has a node without an object. A change costs time in proportion to the object's owners; the
 * graph is never scanned.
 *
 * The graph decides nothing: it reports the objects to check. A redundant check is harmless.
 */
import type { ApiObject } from "../../api/api-object.ts";
import type { OwnerReference } from "../../api/generated/types/meta-v1.ts";
import { groupOf } from "../../runtime/refs/owner-reference.ts";
import type { ServedResource } from "../served-resources.ts";
import { isBeingDeleted, isDeletingDependents, isOrphaning } from "./deletion-state.ts";

export interface GraphNode {
  readonly uid: string;
  /** Undefined for an owner that no cache knows. */
  object: ApiObject | undefined;
  /** Defined if and only if `object` is. */
  resource: ServedResource | undefined;
  /** Created with the first dependent. */
  dependents: Set<GraphNode> | undefined;
}

/** Node whose object is known. */
export type KnownNode = GraphNode & { readonly object: ApiObject; readonly resource: ServedResource };

export interface GraphListener {
  /** Reports an object to check. */
  check(uid: string): void;
  /** Reports that an object with dependents was deleted. */
  gone(uid: string): void;
  /** Reports a reference to an owner in another namespace, or from a cluster-scoped object to a namespaced owner. */
  misplaced(node: KnownNode, reference: OwnerReference): void;
}

const NONE: readonly OwnerReference[] = [];

export class OwnerGraph {
  readonly #nodes = new Map<string, GraphNode>();
  readonly #listener: GraphListener;

  constructor(listener: GraphListener) {
    this.#listener = listener;
  }

  get size(): number {
    return this.#nodes.size;
  }

  find(uid: string): GraphNode | undefined {
    return this.#nodes.get(uid);
  }

  put(resource: ServedResource, object: ApiObject): void {
    const { uid } = object.metadata;
    if (uid === undefined) return;
    const node = this.#nodes.get(uid) ?? this.#add(uid);
    const before = node.object;
    node.object = object;
    node.resource = resource;
    const known = node as KnownNode;
    if (before === undefined) this.#checkDependents(known);
    this.#relink(known, before === undefined ? NONE : ownersOf(before));
    if (isBeingDeleted(object)) this.#noteDeletion(known, before);
  }

  remove(object: ApiObject): void {
    const node = this.#nodes.get(object.metadata.uid ?? "");
    if (node?.object === undefined) return;
    this.#nodes.delete(node.uid);
    for (const { uid } of ownersOf(node.object)) this.#unlink(node, uid);
    if (node.dependents === undefined || node.dependents.size === 0) return;
    this.#listener.gone(node.uid);
    for (const dependent of node.dependents) this.#listener.check(dependent.uid);
  }

  /**
   * Drops an object whose resource is no longer followed; its existence is unknown from now on. No-op once another
   * resource has added it.
   */
  forget(resource: ServedResource, object: ApiObject): void {
    const node = this.#nodes.get(object.metadata.uid ?? "");
    if (node?.object === undefined || node.resource !== resource) return;
    for (const { uid } of ownersOf(node.object)) this.#unlink(node, uid);
    node.object = undefined;
    node.resource = undefined;
    this.#dropIfUnneeded(node);
  }

  /** False for an object whose owners all exist and that is not being deleted: a check would do nothing. */
  needsCheck(uid: string): boolean {
    const node = this.#nodes.get(uid);
    if (node?.object === undefined) return false;
    const known = node as KnownNode;
    return (
      isBeingDeleted(known.object) ||
      ownersOf(known.object).some((reference) => !isSound(known, reference, this.#nodes.get(reference.uid)))
    );
  }

  #add(uid: string): GraphNode {
    const node: GraphNode = { uid, object: undefined, resource: undefined, dependents: undefined };
    this.#nodes.set(uid, node);
    return node;
  }

  #relink(node: KnownNode, before: readonly OwnerReference[]): void {
    const now = ownersOf(node.object);
    if (now === before) return;
    const [findOld, findNew] = [finder(before), finder(now)];
    for (const reference of now) {
      const old = findOld(reference.uid);
      if (old === undefined) this.#link(node, reference);
      else if (!isSameReference(old, reference)) this.#noteChange(node, reference);
    }
    for (const { uid } of before) if (findNew(uid) === undefined) this.#unlink(node, uid);
  }

  #link(node: KnownNode, reference: OwnerReference): void {
    const owner = this.#nodes.get(reference.uid) ?? this.#add(reference.uid);
    owner.dependents ??= new Set();
    owner.dependents.add(node);
    this.#checkReference(node, reference, owner);
  }

  #unlink(node: GraphNode, owner: string): void {
    const found = this.#nodes.get(owner);
    found?.dependents?.delete(node);
    if (found === undefined) return;
    if (found.object !== undefined && isDeletingDependents(found.object)) this.#listener.check(owner);
    this.#dropIfUnneeded(found);
  }

  /** An owner that waits for its dependents may no longer have to wait for this one. */
  #noteChange(node: KnownNode, reference: OwnerReference): void {
    const owner = this.#nodes.get(reference.uid);
    if (owner === undefined) return;
    this.#checkReference(node, reference, owner);
    if (owner.object !== undefined && isDeletingDependents(owner.object)) this.#listener.check(owner.uid);
  }

  #checkReference(node: KnownNode, reference: OwnerReference, owner: GraphNode): void {
    const { object } = owner;
    if (object !== undefined && isElsewhere(node, object)) this.#listener.misplaced(node, reference);
    if (!isSound(node, reference, owner)) this.#listener.check(node.uid);
  }

  /** Checks the references of dependents that were added before their owner. */
  #checkDependents(node: KnownNode): void {
    for (const dependent of node.dependents ?? []) {
      if (dependent.object === undefined) continue;
      const reference = ownersOf(dependent.object).find(({ uid }) => uid === node.uid);
      if (reference !== undefined) this.#checkReference(dependent as KnownNode, reference, node);
    }
  }

  #noteDeletion({ uid, object, dependents }: KnownNode, before: ApiObject | undefined): void {
    const isNew = (test: (object: ApiObject) => boolean): boolean =>
      test(object) && (before === undefined || !test(before));
    const isForegroundNew = isNew(isDeletingDependents);
    if (isForegroundNew || isNew(isOrphaning)) this.#listener.check(uid);
    if (isForegroundNew) for (const dependent of dependents ?? []) this.#listener.check(dependent.uid);
  }

  #dropIfUnneeded({ uid, object, dependents }: GraphNode): void {
    if (object === undefined && (dependents?.size ?? 0) === 0) this.#nodes.delete(uid);
  }
}

/** Upper bound of a linear search. A client controls the number of owners, so longer lists get a map. */
const FEW = 16;

/** Finds the first reference to an owner. */
function finder(references: readonly OwnerReference[]): (uid: string) => OwnerReference | undefined {
  if (references.length <= FEW) return (uid) => references.find((reference) => reference.uid === uid);
  const byUid = new Map<string, OwnerReference>();
  for (const reference of references) if (!byUid.has(reference.uid)) byUid.set(reference.uid, reference);
  return (uid) => byUid.get(uid);
}

export function ownersOf({ metadata }: ApiObject): readonly OwnerReference[] {
  return metadata.ownerReferences ?? NONE;
}

/** The reference has the object's group, kind and name. Versions are not compared: they show the same object. */
export function isNamedBy(
  { apiVersion, kind, name }: OwnerReference,
  { object, resource }: KnownNode,
): boolean {
  return kind === resource.kind && name === object.metadata.name && groupOf(apiVersion) === resource.group;
}

/** Owners must be in the dependent's namespace or cluster-scoped. */
export function isElsewhere({ object }: KnownNode, owner: ApiObject): boolean {
  const { namespace = "" } = owner.metadata;
  return namespace !== "" && namespace !== (object.metadata.namespace ?? "");
}

/** The owner exists, is the named object, and does not delete its dependents. */
function isSound(node: KnownNode, reference: OwnerReference, owner: GraphNode | undefined): boolean {
  if (owner?.object === undefined) return false;
  const known = owner as KnownNode;
  return (
    isNamedBy(reference, known) && !isElsewhere(node, known.object) && !isDeletingDependents(known.object)
  );
}

function isSameReference(left: OwnerReference, right: OwnerReference): boolean {
  return (
    left.kind === right.kind &&
    left.name === right.name &&
    left.apiVersion === right.apiVersion &&
    left.blockOwnerDeletion === right.blockOwnerDeletion
  );
}
