/** Lists and sets. */
import { CelEvaluationError } from "../cel-error.ts";
import { areEqual, compareValues } from "../equality.ts";
import { itemsOf } from "../json-value.ts";
import type { Apply, Library } from "../overload.ts";
import type { Run } from "../run.ts";
import { type CelList, type CelValue, Duration, Uint } from "../value.ts";
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

/** The least when `sign` is -1, the greatest when it is 1. */
function extreme(name: string, sign: 1 | -1): Apply {
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

function sum(zero: CelValue): Apply {
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

/** Whether the list has an item that is equal. Each comparison costs. */
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

export const COLLECTIONS: Library = [
  ...ORDERED.flatMap((type): Library => [
    [`list<${type}> -> isSorted(): bool`, ([list], run) => isSorted(list, run)],
    [`list<${type}> -> min(): ${type}`, extreme("min", -1)],
    [`list<${type}> -> max(): ${type}`, extreme("max", 1)],
  ]),
  ...ZEROS.map(([type, zero]): Library[number] => [`list<${type}> -> sum(): ${type}`, sum(zero)]),
  ["list<A> -> indexOf(A): int", ([list, item], run) => indexOf(list, item, run)],
  ["list<A> -> lastIndexOf(A): int", ([list, item], run) => lastIndexOf(list, item, run)],
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
