/** Compares two trees of SortedMap while the result is read: a caller may stop, or let others run, at any difference. */
import type { Keyed, Node } from "./sorted-map-node.ts";

/** The values of one key. Undefined in a map without the key. */
export interface Difference<V> {
  readonly before: V | undefined;
  readonly after: V | undefined;
}

/**
 * The differences in the order of their keys. Compares values by identity and skips shared subtrees: trees of one origin
 * share all nodes but the paths to changes.
 */
export function* differencesOf<V extends Keyed>(
  before: Node<V> | undefined,
  after: Node<V> | undefined,
): Generator<Difference<V>, undefined> {
  const [old, fresh] = [new TreeCursor(before), new TreeCursor(after)];
  for (let due = dueFirst(old, fresh); due.length > 0; due = dueFirst(old, fresh)) {
    const isShared = due.length === 2 && old.part === fresh.part;
    if (!isShared && enterTallest(due)) continue;
    if (!isShared) yield { before: valueOf(old, due), after: valueOf(fresh, due) };
    for (const cursor of due) cursor.skip();
  }
  return undefined;
}

/** Nodes are compared at equal height: the taller one is entered first. False if there are values only. */
function enterTallest<V extends Keyed>(cursors: readonly TreeCursor<V>[]): boolean {
  const height = Math.max(...cursors.map((cursor) => cursor.height));
  if (height === 0) return false;
  for (const cursor of cursors) if (cursor.height === height) cursor.enter();
  return true;
}

/** Those whose part begins first: both, one, or none at the end. */
function dueFirst<V extends Keyed>(old: TreeCursor<V>, fresh: TreeCursor<V>): readonly TreeCursor<V>[] {
  const [from, to] = [old.key, fresh.key];
  if (from === to) return from === undefined ? [] : [old, fresh];
  return to === undefined || (from !== undefined && from < to) ? [old] : [fresh];
}

function valueOf<V extends Keyed>(cursor: TreeCursor<V>, due: readonly TreeCursor<V>[]): V | undefined {
  return due.includes(cursor) ? cursor.value : undefined;
}

/** Walks a tree in order. Its current part is a value or a node, which can be entered or skipped. */
class TreeCursor<V extends Keyed> {
  /** Nodes to come, the next one last. They follow the values. */
  readonly #nodes: Node<V>[];
  #values: readonly V[] = [];
  #at = 0;

  constructor(root: Node<V> | undefined) {
    this.#nodes = root === undefined ? [] : [root];
  }

  get value(): V | undefined {
    return this.#values[this.#at];
  }

  get part(): Node<V> | V | undefined {
    return this.value ?? this.#nodes.at(-1);
  }

  /** No key of this part or a later one is lower. Undefined at the end. */
  get key(): string | undefined {
    return this.value?.key ?? this.#nodes.at(-1)?.lowest;
  }

  /** Levels of the part; 0 for a value. */
  get height(): number {
    if (this.value !== undefined) return 0;
    let height = 1;
    for (let node = this.#nodes.at(-1); node?.children !== undefined; node = node.children[0]) height++;
    return height;
  }

  skip(): void {
    if (this.value === undefined) this.#nodes.pop();
    else this.#at++;
  }

  enter(): void {
    const node = this.#nodes.pop();
    if (node?.children !== undefined) this.#nodes.push(...node.children.toReversed());
    this.#values = node?.items ?? [];
    this.#at = 0;
  }
}
