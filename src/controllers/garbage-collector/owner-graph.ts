/**
 * Who depends on whom, by uid, as far as the caches have told. Objects that are only known because others name them as owners have a node
 * too, without an object. A change costs as much as the object has owners; nothing is ever searched.
 *
 * The graph decides nothing: it says which objects are to be looked at, and looking again is always harmless.
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
  /** Defined exactly when the object is. */
  resource: ServedResource | undefined;
  /** Made when there is the first. */
  dependents: Set<GraphNode> | undefined;
}

/** A node whose object is known. */
export type KnownNode = GraphNode & { readonly object: ApiObject; readonly resource: ServedResource };

export interface GraphListener {
  /** Something about this object may have to be done. */
  look(uid: string): void;
  /** An object that has dependents was deleted. */
  gone(uid: string): void;
  /** The reference of this object names an owner of another namespace, or one in a namespace where it has none itself. */
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
    for (const dependent of node.dependents) this.#listener.look(dependent.uid);
  }

  /** Its kind is not followed any more: whether it still is there is unknown from now on. */
  forget(object: ApiObject): void {
    const node = this.#nodes.get(object.metadata.uid ?? "");
    if (node?.object === undefined) return;
    for (const { uid } of ownersOf(node.object)) this.#unlink(node, uid);
    node.object = undefined;
    node.resource = undefined;
    this.#dropIfUnneeded(node);
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
    if (found.object !== undefined && isDeletingDependents(found.object)) this.#listener.look(owner);
    this.#dropIfUnneeded(found);
  }

  /** An owner that waits for its dependents may no longer have to wait for this one. */
  #noteChange(node: KnownNode, reference: OwnerReference): void {
    const owner = this.#nodes.get(reference.uid);
    if (owner === undefined) return;
    this.#checkReference(node, reference, owner);
    if (owner.object !== undefined && isDeletingDependents(owner.object)) this.#listener.look(owner.uid);
  }

  #checkReference(node: KnownNode, reference: OwnerReference, owner: GraphNode): void {
    const { object, resource } = owner;
    if (object === undefined || resource === undefined) {
      this.#listener.look(node.uid);
      return;
    }
    if (isElsewhere(node, object)) this.#listener.misplaced(node, reference);
    if (
      !isNamedBy(reference, owner as KnownNode) ||
      isElsewhere(node, object) ||
      isDeletingDependents(object)
    )
      this.#listener.look(node.uid);
  }

  /** What was only named is now known: those that named it wrongly are found out. */
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
    if (isForegroundNew || isNew(isOrphaning)) this.#listener.look(uid);
    if (isForegroundNew) for (const dependent of dependents ?? []) this.#listener.look(dependent.uid);
  }

  #dropIfUnneeded({ uid, object, dependents }: GraphNode): void {
    if (object === undefined && (dependents?.size ?? 0) === 0) this.#nodes.delete(uid);
  }
}

/** More are not looked through for each: whoever writes an object says how many owners it has. */
const FEW = 16;

/** Of several references to one owner the first. */
function finder(references: readonly OwnerReference[]): (uid: string) => OwnerReference | undefined {
  if (references.length <= FEW) return (uid) => references.find((reference) => reference.uid === uid);
  const byUid = new Map<string, OwnerReference>();
  for (const reference of references) if (!byUid.has(reference.uid)) byUid.set(reference.uid, reference);
  return (uid) => byUid.get(uid);
}

export function ownersOf({ metadata }: ApiObject): readonly OwnerReference[] {
  return metadata.ownerReferences ?? NONE;
}

/** The group, kind and name of the reference are those of the object; versions of a group show the same object. */
export function isNamedBy(
  { apiVersion, kind, name }: OwnerReference,
  { object, resource }: KnownNode,
): boolean {
  return kind === resource.kind && name === object.metadata.name && groupOf(apiVersion) === resource.group;
}

/** Owners lie in the same namespace, or in none. */
export function isElsewhere({ object }: KnownNode, owner: ApiObject): boolean {
  const { namespace = "" } = owner.metadata;
  return namespace !== "" && namespace !== (object.metadata.namespace ?? "");
}

function isSameReference(left: OwnerReference, right: OwnerReference): boolean {
  return (
    left.kind === right.kind &&
    left.name === right.name &&
    left.apiVersion === right.apiVersion &&
    left.blockOwnerDeletion === right.blockOwnerDeletion
  );
}
