/** CEL library of optional values. The planner evaluates the arguments of `or` and `orValue` only when needed. */
import { CelEvaluationError } from "../cel-error.ts";
import { itemsOf } from "../cel-json-value.ts";
import { INSTANT_MIN } from "../instant.ts";
import type { Library } from "../overload.ts";
import {
  Bytes,
  CelList,
  CelMap,
  CelRecord,
  type CelValue,
  Duration,
  NONE,
  Optional,
  PlainList,
  Timestamp,
  Uint,
} from "../value.ts";

const ZEROS: ReadonlySet<CelValue> = new Set([null, false, "", 0, 0n]);

function isZero(value: CelValue): boolean {
  if (value === null || typeof value !== "object") return ZEROS.has(value);
  if (value instanceof Uint) return value.value === 0n;
  if (value instanceof Bytes) return value.data.length === 0;
  if (value instanceof Duration) return value.ns === 0n;
  if (value instanceof Timestamp) return value.ns === INSTANT_MIN;
  if (value instanceof CelRecord) return [...value.fields()].length === 0;
  if (value instanceof Optional) return value.value === undefined;
  return (value instanceof CelList || value instanceof CelMap) && value.size === 0;
}

function contentOf(value: CelValue): CelValue {
  const { value: content } = value as Optional;
  if (content === undefined) throw new CelEvaluationError("optional.none() dereference");
  return content;
}

function unwrapped(list: CelValue): CelValue {
  const contents = itemsOf(list as CelList).map((item) => (item instanceof Optional ? item.value : item));
  return new PlainList(contents.filter((item) => item !== undefined));
}

/** First or last item, as an optional value. */
function itemAt(list: CelValue, at: 0 | -1): CelValue {
  const { size } = list as CelList;
  return size === 0 ? NONE : new Optional((list as CelList).at(at === 0 ? 0 : size - 1));
}

export const OPTIONALS: Library = [
  ["optional.of(A): optional<A>", ([value]) => new Optional(value)],
  ["optional.none(): optional<A>", () => NONE],
  ["optional.ofNonZeroValue(A): optional<A>", ([value]) => (isZero(value) ? NONE : new Optional(value))],
  ["optional.unwrap(list<optional<A>>): list<A>", ([list]) => unwrapped(list)],
  ["list<optional<A>> -> unwrapOpt(): list<A>", ([list]) => unwrapped(list)],
  ["list<A> -> first(): optional<A>", ([list]) => itemAt(list, 0)],
  ["list<A> -> last(): optional<A>", ([list]) => itemAt(list, -1)],
  ["optional<A> -> hasValue(): bool", ([value]) => (value as Optional).value !== undefined],
  ["optional<A> -> value(): A", ([value]) => contentOf(value)],
  [
    "optional<A> -> or(optional<A>): optional<A>",
    ([value, other]) => ((value as Optional).value === undefined ? other : value),
  ],
  ["optional<A> -> orValue(A): A", ([value, other]) => (value as Optional).value ?? other],
];
