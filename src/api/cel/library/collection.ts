/** CEL functions of lists and sets. */
import { CelEvaluationError } from "../cel-error.ts";
import { itemsOf } from "../cel-json-value.ts";
import { areEqual, compareValues } from "../equality.ts";
import type { Implementation, Library } from "../overload.ts";
import type { Run } from "../run.ts";
import { CelList, type CelValue, Duration, PlainList, tagOf, Uint } from "../value.ts";
import { checkedDuration, checkedInt, checkedUint } from "./arithmetic.ts";

const ORDERED = ["int", "uint", "double", "bool", "duration", "timestamp", "string", "bytes"];
const ZEROS: readonly (readonly [string, CelValue])[] = [
  ["int", 0n],
  ["uint", new Uint(0n)],
  ["double", 0],
  ["duration", new Duration(0n)],
];

function itemsAt(list: CelValue, run: Run): readonly CelValue[] {
  run.charge((list as CelList).size);
  return itemsOf(list as CelList);
}

function ordered(left: CelValue, right: CelValue): number {
  const order = compareValues(left, right);
  if (order === undefined) throw new CelEvaluationError("no such overload");
  return order;
}

function isSorted(list: CelValue, run: Run): boolean {
  const items = itemsAt(list, run);
  return items.every((item, at) => at === 0 || ordered(items[at - 1] ?? null, item) <= 0);
}

/** The least item when `sign` is -1, the greatest when it is 1. */
function extreme(name: string, sign: 1 | -1): Implementation {
  return ([list], run) => {
    const [first, ...others] = itemsAt(list, run);
    if (first === undefined) throw new CelEvaluationError(`${name} called on empty list`);
    let chosen = first;
    for (const item of others) if (ordered(item, chosen) * sign > 0) chosen = item;
    return chosen;
  };
}

function added(left: CelValue, right: CelValue): CelValue {
  if (typeof left === "bigint" && typeof right === "bigint") return checkedInt(left + right);
  if (typeof left === "number" && typeof right === "number") return left + right;
  if (left instanceof Uint && right instanceof Uint) return checkedUint(left.value + right.value);
  if (left instanceof Duration && right instanceof Duration) return checkedDuration(left.ns + right.ns);
  throw new CelEvaluationError("no such overload");
}

function sum(zero: CelValue): Implementation {
  return ([list], run) => {
    let total = zero;
    for (const item of itemsAt(list, run)) total = added(total, item);
    return total;
  };
}

function indexOf(list: CelValue, wanted: CelValue, run: Run): bigint {
  return BigInt(itemsAt(list, run).findIndex((item) => areEqual(item, wanted, run)));
}

function lastIndexOf(list: CelValue, wanted: CelValue, run: Run): bigint {
  return BigInt(itemsAt(list, run).findLastIndex((item) => areEqual(item, wanted, run)));
}

/** True when the list has an equal item. Each comparison costs effort. */
export function holds(list: CelList, wanted: CelValue, run: Run): boolean {
  for (let at = 0; at < list.size; at++) {
    run.charge(1);
    if (areEqual(list.at(at), wanted, run)) return true;
  }
  return false;
}

function containsAll(list: CelValue, wanted: CelValue, run: Run): boolean {
  return itemsAt(wanted, run).every((item) => holds(list as CelList, item, run));
}

function slice(list: CelValue, [start, end]: readonly [bigint, bigint], run: Run): CelValue {
  const { size } = list as CelList;
  const call = `cannot slice(${start}, ${end})`;
  if (start < 0n || end < 0n) throw new CelEvaluationError(`${call}, negative indexes not supported`);
  if (start > end)
    throw new CelEvaluationError(`${call}, start index must be less than or equal to end index`);
  if (BigInt(size) < end) throw new CelEvaluationError(`${call}, list is length ${size}`);
  return new PlainList(itemsAt(list, run).slice(Number(start), Number(end)));
}

/** Flattens nested lists down to `levels`; other values stay as they are. */
function flatten(list: CelValue, levels: bigint, run: Run): CelValue {
  if (levels < 0n) throw new CelEvaluationError("level must be non-negative");
  const flat: CelValue[] = [];
  // Explicit stack of open lists, the innermost last, because expressions may nest lists to any depth.
  const open = [{ items: itemsAt(list, run), at: 0 }];
  for (let top = open.at(-1); top !== undefined; top = open.at(-1)) {
    if (top.at === top.items.length) {
      open.pop();
      continue;
    }
    const item = top.items[top.at] ?? null;
    top.at += 1;
    if (item instanceof CelList && open.length <= levels) open.push({ items: itemsAt(item, run), at: 0 });
    else flat.push(item);
  }
  return new PlainList(flat);
}

/** Sorts stably: items with equal keys keep their order. */
export function sortedBy(list: CelList, keys: readonly CelValue[], run: Run): CelList {
  const [first] = keys;
  if (first === undefined) return list;
  run.charge(Math.ceil(keys.length * Math.log2(keys.length + 1)));
  if (compareValues(first, first) === undefined)
    throw new CelEvaluationError("list elements must be comparable");
  if (keys.some((key) => tagOf(key) !== tagOf(first)))
    throw new CelEvaluationError("list elements must have the same type");
  const order = keys
    .map((key, at) => ({ key, at }))
    .toSorted((left, right) => ordered(left.key, right.key) || left.at - right.at);
  return new PlainList(order.map(({ at }) => list.at(at)));
}

function range(count: bigint, run: Run): CelValue {
  if (count < 0n) throw new CelEvaluationError(`lists.range: size must be non-negative, got ${count}`);
  // Counted before the list is made: the budget bounds its length.
  run.charge(Number(count));
  return new PlainList(Array.from({ length: Number(count) }, (_, at) => BigInt(at)));
}

function distinct(list: CelValue, run: Run): CelValue {
  const kept: CelValue[] = [];
  for (const item of itemsAt(list, run)) {
    run.charge(kept.length);
    if (!kept.some((other) => areEqual(item, other, run))) kept.push(item);
  }
  return new PlainList(kept);
}

export const COLLECTIONS: Library = [
  ...ORDERED.flatMap((type): Library => [
    [`list<${type}> -> isSorted(): bool`, ([list], run) => isSorted(list, run)],
    [`list<${type}> -> min(): ${type}`, extreme("min", -1)],
    [`list<${type}> -> max(): ${type}`, extreme("max", 1)],
    [
      `list<${type}> -> sort(): list<${type}>`,
      ([list], run) => sortedBy(list as CelList, itemsAt(list, run), run),
    ],
  ]),
  ...ZEROS.map(([type, zero]): Library[number] => [`list<${type}> -> sum(): ${type}`, sum(zero)]),
  ["list<A> -> indexOf(A): int", ([list, item], run) => indexOf(list, item, run)],
  ["list<A> -> lastIndexOf(A): int", ([list, item], run) => lastIndexOf(list, item, run)],
  [
    "list<A> -> slice(int, int): list<A>",
    ([list, start, end], run) => slice(list, [start as bigint, end as bigint], run),
  ],
  ["list<list<A>> -> flatten(): list<A>", ([list], run) => flatten(list, 1n, run)],
  ["list<dyn> -> flatten(int): list<dyn>", ([list, levels], run) => flatten(list, levels as bigint, run)],
  ["list<A> -> reverse(): list<A>", ([list], run) => new PlainList(itemsAt(list, run).toReversed())],
  ["list<A> -> distinct(): list<A>", ([list], run) => distinct(list, run)],
  ["lists.range(int): list<int>", ([count], run) => range(count as bigint, run)],
  ["sets.contains(list<A>, list<A>): bool", ([list, wanted], run) => containsAll(list, wanted, run)],
  [
    "sets.equivalent(list<A>, list<A>): bool",
    ([one, other], run) => containsAll(one, other, run) && containsAll(other, one, run),
  ],
  [
    "sets.intersects(list<A>, list<A>): bool",
    ([one, other], run) => itemsAt(one, run).some((item) => holds(other as CelList, item, run)),
  ],
];
