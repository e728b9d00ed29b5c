/**
 * Sets of fields in the form of FieldsV1. The JSON object of the API is the set itself: a tree that shares unchanged
 * parts, needs no decoding or encoding, and is compared by identity first.
 *
 *   { "f:metadata": { "f:labels": { ".": {}, "f:app": {} } }, "f:spec": { "f:replicas": {} } }
 *
 * owns metadata.labels itself, its key `app`, and spec.replicas. A node without children is a member; one with
 * children is a member only if they include ".". The root is never a member, so that `{}` is the empty set.
 *
 * Every set is canonical (see path-element.ts) and sorted. Every node is a member or has a member below it.
 */
import { isJsonObject } from "../../json/json-object.ts";
import { JSON_DEPTH_MAX } from "../../json/json-scan.ts";
import { canonicalElement, elementText, SELF, sortElements } from "./path-element.ts";

export interface FieldSet {
  readonly [element: string]: FieldSet;
}

export type FieldSetDraft = Record<string, FieldSet>;

export const EMPTY: FieldSet = Object.freeze({});
/** A node that is a member without children. */
export const MEMBER: FieldSet = Object.freeze({});

/** The set of the given paths, each a list of elements. */
export function fieldSet(...paths: readonly (readonly string[])[]): FieldSet {
  let set = EMPTY;
  for (const path of paths) {
    let node = MEMBER;
    for (const element of path.toReversed()) node = { [element]: node };
    set = union(set, node);
  }
  return set;
}

export function isEmpty(set: FieldSet): boolean {
  for (const _ in set) return false;
  return true;
}

/** Sets larger than this are remembered as non-empty: in V8, testing a set for emptiness takes time linear in its size. */
const LARGE = 100;
const large = new WeakSet<FieldSet>();

/** Like `isEmpty`, for a set that is compared with many others. */
function hasNothing(set: FieldSet): boolean {
  if (large.has(set)) return false;
  let count = 0;
  for (const _ in set) {
    if (++count <= LARGE) continue;
    large.add(set);
    return false;
  }
  return count === 0;
}

/** Like `isMember`, for a set that is compared with many others. */
function holdsItself(node: FieldSet): boolean {
  return node[SELF] !== undefined || hasNothing(node);
}

/** True when a node is a member. The root is never one. */
export function isMember(node: FieldSet): boolean {
  return node[SELF] !== undefined || isEmpty(node);
}

/** The node as a member, with its children. */
export function asMember(node: FieldSet): FieldSet {
  return isMember(node) ? node : { [SELF]: MEMBER, ...node };
}

export function has(set: FieldSet, path: readonly string[]): boolean {
  let node: FieldSet | undefined = set;
  for (const element of path) {
    node = node[element];
    if (node === undefined) return false;
  }
  return path.length > 0 && isMember(node);
}

/** The paths below the element, relative to it. */
export function withPrefix(set: FieldSet, element: string): FieldSet {
  const { [SELF]: _, ...children } = set[element] ?? EMPTY;
  return children;
}

export function union(left: FieldSet, right: FieldSet): FieldSet {
  if (left === right || isEmpty(right)) return left;
  return isEmpty(left) ? right : unionChildren(left, right);
}

/** Union of all sets, in pairs. A union one by one would walk the growing result once for each set. */
export function unionOf(sets: readonly FieldSet[]): FieldSet {
  const [first = EMPTY, second = EMPTY] = sets;
  if (sets.length <= 2) return union(first, second);
  const middle = sets.length >> 1;
  return union(unionOf(sets.slice(0, middle)), unionOf(sets.slice(middle)));
}

function unionNodes(left: FieldSet, right: FieldSet): FieldSet {
  if (left === right) return left;
  // Checked before the left side, so that of two leaves the left one is returned.
  if (isEmpty(right)) return asMember(left);
  return isEmpty(left) ? asMember(right) : unionChildren(left, right);
}

function unionChildren(left: FieldSet, right: FieldSet): FieldSet {
  let changed: FieldSetDraft | undefined;
  let grew = false;
  for (const element in right) {
    const mine = left[element];
    const theirs = right[element] ?? MEMBER;
    const both = mine === undefined ? theirs : unionNodes(mine, theirs);
    if (both === mine) continue;
    grew ||= mine === undefined;
    (changed ??= { ...left })[element] = both;
  }
  if (changed === undefined) return left;
  return grew ? sortedSet(changed) : changed;
}

/** Members of both sets. */
export function intersection(left: FieldSet, right: FieldSet): FieldSet {
  return intersectionChildren(left, right) ?? EMPTY;
}

function intersectionNodes(left: FieldSet, right: FieldSet): FieldSet | undefined {
  if (left === right) return left;
  if (isEmpty(left)) return holdsItself(right) ? MEMBER : undefined;
  if (hasNothing(right)) return isMember(left) ? MEMBER : undefined;
  return intersectionChildren(left, right);
}

function intersectionChildren(left: FieldSet, right: FieldSet): FieldSet | undefined {
  return rewrite(left, (child, element) => {
    const other = right[element];
    return other === undefined ? undefined : intersectionNodes(child, other);
  });
}

/**
 * Members of the left set that are not in the right one. A member of the right set removes only itself, not its children.
 */
export function difference(left: FieldSet, right: FieldSet): FieldSet {
  if (isEmpty(right)) return left;
  return differenceChildren(left, right) ?? EMPTY;
}

function differenceNodes(left: FieldSet, right: FieldSet): FieldSet | undefined {
  if (left === right) return undefined;
  if (isEmpty(left)) return holdsItself(right) ? undefined : left;
  return differenceChildren(left, hasNothing(right) ? ONLY_SELF : right);
}

const ONLY_SELF: FieldSet = Object.freeze({ [SELF]: MEMBER });

function differenceChildren(left: FieldSet, right: FieldSet): FieldSet | undefined {
  if (!touches(left, right)) return left;
  return rewrite(left, (child, element) => {
    const other = right[element];
    return other === undefined ? child : differenceNodes(child, other);
  });
}

/**
 * Fast path of the common case, a change elsewhere. It walks the left set only: when one large change is compared with the
 * sets of thousands of owners, the change is not walked for each.
 */
function touches(left: FieldSet, right: FieldSet): boolean {
  for (const element in left) {
    if (right[element] !== undefined) return true;
  }
  return false;
}

/** Members of the left set that are neither in the right set nor below a member of it. */
export function recursiveDifference(left: FieldSet, right: FieldSet): FieldSet {
  return recursiveChildren(left, right) ?? EMPTY;
}

function recursiveChildren(left: FieldSet, right: FieldSet): FieldSet | undefined {
  if (!touches(left, right)) return left;
  return rewrite(left, (child, element) => {
    const other = right[element];
    if (other === undefined || element === SELF) return child;
    if (holdsItself(other)) return undefined;
    return isEmpty(child) ? child : recursiveChildren(child, other);
  });
}

/** Members without members below them. */
export function leaves(set: FieldSet): FieldSet {
  return rewrite(set, (child, element) => (element === SELF ? undefined : leaves(child))) ?? EMPTY;
}

/** All members in upstream's order: the members of a node come before those below it. */
export function* paths(set: FieldSet, prefix: readonly string[] = []): Generator<readonly string[]> {
  for (const element in set) {
    if (element !== SELF && isMember(set[element] ?? MEMBER)) yield [...prefix, element];
  }
  for (const element in set) {
    if (element !== SELF) yield* paths(set[element] ?? MEMBER, [...prefix, element]);
  }
}

/** The path as upstream prints it: `.spec.containers[name="web"].image`. */
export function pathText(path: readonly string[]): string {
  return path.map(elementText).join("");
}

/** The set with its elements in order; the set itself when they already are. */
export function sortedSet(set: FieldSet): FieldSet {
  const elements = Object.keys(set);
  const sorted = sortElements(elements);
  if (sorted === elements || sorted.every((element, at) => element === elements[at])) return set;
  const ordered: FieldSetDraft = {};
  for (const element of sorted) ordered[element] = set[element] ?? MEMBER;
  return ordered;
}

/**
 * Canonical set from the `fieldsV1` that a client sent; the value itself when it already is canonical. Throws an Error when
 * it is malformed.
 */
export function parseFieldSet(value: unknown): FieldSet {
  const node = parseNode(value, JSON_DEPTH_MAX);
  const { [SELF]: self, ...children } = node;
  return self === undefined ? node : children;
}

function parseNode(value: unknown, depth: number): FieldSet {
  if (!isJsonObject(value)) throw new Error("a set of fields must be an object");
  if (depth === 0) throw new Error("a set of fields is nested too deeply");
  const node: FieldSetDraft = {};
  let isSame = true;
  for (const key of Object.keys(value)) {
    const element = key === SELF ? SELF : canonicalElement(key);
    const child = parseChild(key, value[key], depth - 1);
    isSame &&= element === key && child === value[key];
    if (element !== undefined) node[element] = child;
  }
  const sorted = sortedSet(node[SELF] !== undefined && Object.keys(node).length === 1 ? MEMBER : node);
  return isSame && sorted === node ? (value as FieldSet) : sorted;
}

function parseChild(key: string, value: unknown, depth: number): FieldSet {
  if (key !== SELF) return parseNode(value, depth);
  return isEmptyObject(value) ? (value as FieldSet) : MEMBER;
}

function isEmptyObject(value: unknown): boolean {
  return isJsonObject(value) && Object.keys(value).length === 0;
}

/**
 * The node with each child changed or, when the result is `undefined`, removed. Returns the node itself if nothing changed,
 * and `undefined` if nothing is left.
 */
export function rewrite(
  node: FieldSet,
  change: (child: FieldSet, element: string) => FieldSet | undefined,
): FieldSet | undefined {
  let changed: FieldSetDraft | undefined;
  let count = 0;
  for (const element in node) {
    const child = node[element] ?? MEMBER;
    const next = change(child, element);
    if (changed === undefined && next !== child) changed = copiedBefore(node, element);
    if (next === undefined) continue;
    count++;
    if (changed !== undefined) changed[element] = next;
  }
  if (changed === undefined) return node;
  if (count === 0) return undefined;
  return count === 1 && changed[SELF] !== undefined ? MEMBER : changed;
}

function copiedBefore(node: FieldSet, end: string): FieldSetDraft {
  const copy: FieldSetDraft = {};
  for (const element in node) {
    if (element === end) break;
    copy[element] = node[element] ?? MEMBER;
  }
  return copy;
}
