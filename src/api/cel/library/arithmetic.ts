/** CEL operators `+ - * / %` and the sign, with errors on 64-bit overflow. */
import { CelEvaluationError } from "../cel-error.ts";
import { concatLists } from "../cel-json-value.ts";
import { isInstant } from "../instant.ts";
import type { Library } from "../overload.ts";
import type { Run } from "../run.ts";
import { Bytes, type CelList, type CelValue, Duration, Timestamp, Uint } from "../value.ts";

/** Bound as in Go, whose durations are 64-bit nanoseconds: about 292 years. */
const DURATION_MAX = 2n ** 63n - 1n;

type Operate<T> = (left: T, right: T) => T;

function ints(operate: Operate<bigint>): (args: readonly [CelValue, CelValue, ...CelValue[]]) => CelValue {
  return ([left, right]) => checkedInt(operate(left as bigint, right as bigint));
}

function uints(operate: Operate<bigint>): (args: readonly [CelValue, CelValue, ...CelValue[]]) => CelValue {
  return ([left, right]) => checkedUint(operate((left as Uint).value, (right as Uint).value));
}

function doubles(operate: Operate<number>): (args: readonly [CelValue, CelValue, ...CelValue[]]) => CelValue {
  return ([left, right]) => operate(left as number, right as number);
}

export function checkedInt(value: bigint): bigint {
  if (BigInt.asIntN(64, value) !== value) throw new CelEvaluationError("integer overflow");
  return value;
}

export function checkedUint(value: bigint): Uint {
  if (BigInt.asUintN(64, value) !== value) throw new CelEvaluationError("unsigned integer overflow");
  return new Uint(value);
}

export function checkedInstant(ns: bigint, offsetMinutes = 0): Timestamp {
  if (!isInstant(ns)) throw new CelEvaluationError("timestamp overflow");
  return new Timestamp(ns, offsetMinutes);
}

/** The later time, with the same offset from UTC. */
function later({ ns, offsetMinutes }: Timestamp, byNs: bigint): Timestamp {
  return checkedInstant(ns + byNs, offsetMinutes);
}

export function checkedDuration(ns: bigint): Duration {
  if (ns > DURATION_MAX || ns < -DURATION_MAX) throw new CelEvaluationError("duration overflow");
  return new Duration(ns);
}

function divided(left: bigint, right: bigint): bigint {
  if (right === 0n) throw new CelEvaluationError("division by zero");
  return left / right;
}

function rest(left: bigint, right: bigint): bigint {
  if (right === 0n) throw new CelEvaluationError("modulus by zero");
  return left % right;
}

function concatTexts([left, right]: readonly [CelValue, CelValue, ...CelValue[]], run: Run): CelValue {
  const [one, other] = [left as string, right as string];
  run.chargeText(one.length + other.length);
  return one + other;
}

function concatBytes([left, right]: readonly [CelValue, CelValue, ...CelValue[]], run: Run): CelValue {
  const [one, other] = [(left as Bytes).data, (right as Bytes).data];
  run.chargeText(one.length + other.length);
  return new Bytes(Buffer.concat([one, other]));
}

export const ARITHMETIC: Library = [
  ["_+_(int, int): int", ints((left, right) => left + right)],
  ["_+_(uint, uint): uint", uints((left, right) => left + right)],
  ["_+_(double, double): double", doubles((left, right) => left + right)],
  ["_+_(string, string): string", concatTexts],
  ["_+_(bytes, bytes): bytes", concatBytes],
  [
    "_+_(list<A>, list<A>): list<A>",
    ([left, right], run) => concatLists(left as CelList, right as CelList, run),
  ],
  ["_+_(timestamp, duration): timestamp", ([at, by]) => later(at as Timestamp, (by as Duration).ns)],
  ["_+_(duration, timestamp): timestamp", ([by, at]) => later(at as Timestamp, (by as Duration).ns)],
  [
    "_+_(duration, duration): duration",
    ([one, other]) => checkedDuration((one as Duration).ns + (other as Duration).ns),
  ],
  ["_-_(int, int): int", ints((left, right) => left - right)],
  ["_-_(uint, uint): uint", uints((left, right) => left - right)],
  ["_-_(double, double): double", doubles((left, right) => left - right)],
  [
    "_-_(timestamp, timestamp): duration",
    ([one, other]) => checkedDuration((one as Timestamp).ns - (other as Timestamp).ns),
  ],
  ["_-_(timestamp, duration): timestamp", ([at, by]) => later(at as Timestamp, -(by as Duration).ns)],
  [
    "_-_(duration, duration): duration",
    ([one, other]) => checkedDuration((one as Duration).ns - (other as Duration).ns),
  ],
  ["_*_(int, int): int", ints((left, right) => left * right)],
  ["_*_(uint, uint): uint", uints((left, right) => left * right)],
  ["_*_(double, double): double", doubles((left, right) => left * right)],
  ["_/_(int, int): int", ints(divided)],
  ["_/_(uint, uint): uint", uints(divided)],
  ["_/_(double, double): double", doubles((left, right) => left / right)],
  ["_%_(int, int): int", ints(rest)],
  ["_%_(uint, uint): uint", uints(rest)],
  ["-_(int): int", ([value]) => checkedInt(-(value as bigint))],
  ["-_(double): double", ([value]) => -(value as number)],
];
