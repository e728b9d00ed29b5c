/** CEL operators on values of any type: comparison, membership, indexing, conditions. */
import { CelEvaluationError } from "../cel-error.ts";
import { areEqual, compareValues } from "../equality.ts";
import type { Implementation, Library } from "../overload.ts";
import type { Run } from "../run.ts";
import { CelList, CelMap, type CelValue, keyText, NONE, Optional, Uint } from "../value.ts";
import { holds } from "./collection.ts";

const ORDERED = ["bool", "int", "uint", "double", "string", "bytes", "timestamp", "duration"];
const NUMBERS = ["int", "uint", "double"];
const ORDERS: Readonly<Record<string, (order: number) => boolean>> = {
  "_<_": (order) => order < 0,
  "_<=_": (order) => order <= 0,
  "_>_": (order) => order > 0,
  "_>=_": (order) => order >= 0,
};

function ordering(holdsFor: (order: number) => boolean): Implementation {
  return ([left, right], run) => {
    if (typeof left === "string" && typeof right === "string")
      run.chargeText(Math.min(left.length, right.length));
    const order = compareValues(left, right);
    // NaN has no order to any number.
    return order !== undefined && holdsFor(order);
  };
}

/** Order of values of one type, and of numbers across types. */
function orderings(): Library {
  const pairs = [
    ...ORDERED.map((type) => [type, type] as const),
    ...NUMBERS.flatMap((left) =>
      NUMBERS.filter((right) => right !== left).map((right) => [left, right] as const),
    ),
  ];
  return Object.entries(ORDERS).flatMap(([name, holdsFor]) =>
    pairs.map(([left, right]): Library[number] => [`${name}(${left}, ${right}): bool`, ordering(holdsFor)]),
  );
}

/** Index of a list: an integer of any number type. */
function indexOf(key: CelValue): number | undefined {
  if (typeof key === "bigint") return Number(key);
  if (key instanceof Uint) return Number(key.value);
  return typeof key === "number" && Number.isInteger(key) ? key : undefined;
}

/** Item at an index or key; `undefined` when there is none. */
function findItem(container: CelValue, key: CelValue): CelValue | undefined {
  if (container instanceof CelMap) return container.find(key);
  if (!(container instanceof CelList)) throw new CelEvaluationError("no such overload");
  const at = indexOf(key);
  if (at === undefined) throw new CelEvaluationError(`unsupported index type '${typeof key}' in list`);
  return at >= 0 && at < container.size ? container.at(at) : undefined;
}

function itemAt([container, key]: readonly [CelValue, CelValue, ...CelValue[]]): CelValue {
  if (container instanceof Optional) return optionalItem(container.value, key);
  const item = findItem(container, key);
  if (item !== undefined) return item;
  const shown = keyText(key)?.slice(1) ?? "";
  throw new CelEvaluationError(
    container instanceof CelList ? `index out of bounds: ${shown}` : `no such key: ${shown}`,
  );
}

function optionalItem(container: CelValue | undefined, key: CelValue): CelValue {
  const inner = container instanceof Optional ? container.value : container;
  const item = inner === undefined ? undefined : findItem(inner, key);
  return item === undefined ? NONE : new Optional(item);
}

function isIn(wanted: CelValue, container: CelValue, run: Run): boolean {
  return container instanceof CelMap ? container.has(wanted) : holds(container as CelList, wanted, run);
}

const choose: Implementation = ([condition, yes, no]) => (condition === true ? yes : no);

export const OPERATORS: Library = [
  ["_==_(A, A): bool", ([left, right], run) => areEqual(left, right, run)],
  ["_!=_(A, A): bool", ([left, right], run) => !areEqual(left, right, run)],
  ...orderings(),
  ["!_(bool): bool", ([value]) => value !== true],
  // The planner evaluates only the chosen branch.
  ["_?_:_(bool, A, A): A", choose],
  ["@in(A, list<A>): bool", ([wanted, list], run) => isIn(wanted, list, run)],
  ["@in(A, map<A, B>): bool", ([wanted, map], run) => isIn(wanted, map, run)],
  ["_[_](list<A>, ~int): A", itemAt],
  ["_[_](map<A, B>, A): B", itemAt],
  ["_[_](optional<list<A>>, ~int): optional<A>", itemAt],
  ["_[_](optional<map<A, B>>, A): optional<B>", itemAt],
  ["_[?_](list<A>, ~int): optional<A>", ([list, at]) => optionalItem(list, at)],
  ["_[?_](map<A, B>, A): optional<B>", ([map, key]) => optionalItem(map, key)],
  ["_[?_](optional<list<A>>, ~int): optional<A>", ([list, at]) => optionalItem(list, at)],
  ["_[?_](optional<map<A, B>>, A): optional<B>", ([map, key]) => optionalItem(map, key)],
];
