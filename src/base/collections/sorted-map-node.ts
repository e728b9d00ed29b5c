/**
 * Nodes of the B+tree under SortedMap, and the functions that change them. A node belongs to the editor whose owner token it
 * carries. That editor changes the node in place; every other user copies it first and owns the copy.
 *
 * Example with nodes of two: an editor that owns nothing puts "c" into
 *
 *        [a c]                  [a c]*
 *       /     \        =>      /     \
 *    {a b}   {c d}          {a b}   {c' d}*
 *
 * It then owns the nodes with a star, so that its next change of "c" or "d" copies nothing. Both trees share {a b}.
 */

export interface Keyed {
  readonly key: string;
}

/** Token compared by identity. Without a token every change copies. */
type Owner = object | undefined;

export interface Node<V extends Keyed> {
  /** Set for a leaf. */
  readonly items: V[] | undefined;
  /** Set for a branch. */
  readonly children: Node<V>[] | undefined;
  lowest: string;
  /** Number of values in the node and below it. */
  size: number;
  readonly owner: Owner;
}

/**
 * Upper bound of a node's width. 32 is the best compromise between copying on update and depth (measured from 8 to
 * 128).
 */
const WIDTH = 32;
/** A node with fewer children is joined with its neighbour. */
const NARROW = WIDTH / 4;

export function leaf<V extends Keyed>(items: V[], owner: Owner): Node<V> {
  return { items, children: undefined, lowest: items[0]?.key ?? "", size: items.length, owner };
}

export function branch<V extends Keyed>(children: Node<V>[], owner: Owner): Node<V> {
  let size = 0;
  for (const child of children) size += child.size;
  return { items: undefined, children, lowest: children[0]?.lowest ?? "", size, owner };
}

/** Chunks of at most WIDTH values, of nearly equal length. */
export function chunk<T>(values: readonly T[]): T[][] {
  const pieces = Math.ceil(values.length / WIDTH);
  return Array.from({ length: pieces }, (_, piece) =>
    values.slice(
      Math.floor((piece * values.length) / pieces),
      Math.floor(((piece + 1) * values.length) / pieces),
    ),
  );
}

/** Index of the last child whose lowest key is not above `key`, or 0. */
export function childIndex<V extends Keyed>(children: readonly Node<V>[], key: string): number {
  let low = 1;
  let high = children.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    const child = children[middle];
    if (child !== undefined && child.lowest <= key) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

/** Index of the first item whose key is not below `key`. */
export function itemIndex<V extends Keyed>(items: readonly V[], key: string): number {
  let low = 0;
  let high = items.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    const item = items[middle];
    if (item !== undefined && item.key < key) low = middle + 1;
    else high = middle;
  }
  return low;
}

export function find<V extends Keyed>(root: Node<V> | undefined, key: string): V | undefined {
  let node = root;
  while (node?.children !== undefined) node = node.children[childIndex(node.children, key)];
  if (node?.items === undefined) return undefined;
  const item = node.items[itemIndex(node.items, key)];
  return item?.key === key ? item : undefined;
}

/** Appends the values below the node with `from <= key < to`, ascending. */
export function collectWithin<V extends Keyed>(
  { items, children }: Node<V>,
  bounds: { readonly from: string; readonly to: string },
  found: V[],
): void {
  if (items !== undefined) {
    for (let index = itemIndex(items, bounds.from); index < items.length; index++) {
      const item = items[index];
      if (item === undefined || item.key >= bounds.to) return;
      found.push(item);
    }
    return;
  }
  if (children === undefined) return;
  for (let index = childIndex(children, bounds.from); index < children.length; index++) {
    const child = children[index];
    if (child === undefined || child.lowest >= bounds.to) return;
    collectWithin(child, bounds, found);
  }
}

/** The tree with the value added, or in place of the value with its key. */
export function withValue<V extends Keyed>(root: Node<V> | undefined, value: V, owner: Owner): Node<V> {
  if (root === undefined) return leaf([value], owner);
  const next = insert(root, value, owner);
  return widthOf(next) <= WIDTH ? next : branch(split(next, owner), owner);
}

/** The tree without a key that it contains; undefined when it becomes empty. */
export function withoutKey<V extends Keyed>(root: Node<V>, key: string, owner: Owner): Node<V> | undefined {
  let node = remove(root, key, owner);
  while (node?.children?.length === 1) node = node.children[0];
  return node;
}

/** The node itself for its owner, else a copy. */
function editable<V extends Keyed>(node: Node<V>, owner: Owner): Node<V> {
  if (owner !== undefined && node.owner === owner) return node;
  const { items, children, lowest, size } = node;
  return { items: items?.slice(), children: children?.slice(), lowest, size, owner };
}

/** The node with the value added. It may be too wide by one; the caller splits it. */
function insert<V extends Keyed>(node: Node<V>, value: V, owner: Owner): Node<V> {
  const own = editable(node, owner);
  const { items, children } = own;
  if (items !== undefined) {
    const index = itemIndex(items, value.key);
    if (items[index]?.key === value.key) items[index] = value;
    else {
      items.splice(index, 0, value);
      own.size += 1;
    }
    own.lowest = items[0]?.key ?? "";
    return own;
  }
  if (children === undefined) return own;
  const index = childIndex(children, value.key);
  const child = children[index];
  if (child === undefined) return own;
  const before = child.size;
  const next = insert(child, value, owner);
  own.size += next.size - before;
  if (widthOf(next) <= WIDTH) children[index] = next;
  else children.splice(index, 1, ...split(next, owner));
  own.lowest = children[0]?.lowest ?? "";
  return own;
}

function split<V extends Keyed>(node: Node<V>, owner: Owner): Node<V>[] {
  if (node.children !== undefined) return chunk(node.children).map((piece) => branch(piece, owner));
  return chunk(node.items ?? []).map((piece) => leaf(piece, owner));
}

/** The node without a key that it contains; undefined when it becomes empty. */
function remove<V extends Keyed>(node: Node<V>, key: string, owner: Owner): Node<V> | undefined {
  if (node.size === 1) return undefined;
  const own = editable(node, owner);
  const { items, children } = own;
  own.size -= 1;
  if (items !== undefined) {
    items.splice(itemIndex(items, key), 1);
    own.lowest = items[0]?.key ?? "";
    return own;
  }
  if (children === undefined) return own;
  const index = childIndex(children, key);
  const child = children[index];
  if (child === undefined) return own;
  const rest = remove(child, key, owner);
  if (rest === undefined) children.splice(index, 1);
  else children[index] = rest;
  joinNarrow(children, Math.min(index, children.length - 1), owner);
  own.lowest = children[0]?.lowest ?? "";
  return own;
}

/** Joins a narrow child with a neighbour, so that shrinking trees become flat again. */
function joinNarrow<V extends Keyed>(children: Node<V>[], index: number, owner: Owner): void {
  if (children.length < 2 || widthOf(children[index]) >= NARROW) return;
  const start = index === 0 ? 0 : index - 1;
  const left = children[start];
  const right = children[start + 1];
  if (left === undefined || right === undefined) return;
  children.splice(start, 2, ...split(join(left, right), owner));
}

function widthOf<V extends Keyed>(node: Node<V> | undefined): number {
  return node?.children?.length ?? node?.items?.length ?? 0;
}

/** Both neighbours as one node, which may be too wide. */
function join<V extends Keyed>(left: Node<V>, right: Node<V>): Node<V> {
  if (left.children !== undefined && right.children !== undefined)
    return branch([...left.children, ...right.children], undefined);
  return leaf([...(left.items ?? []), ...(right.items ?? [])], undefined);
}
