/** CEL functions that convert between types. */
import { parseDuration } from "../../values/time.ts";
import { CelEvaluationError } from "../cel-error.ts";
import { instantOf, instantText, offsetMinutesOf } from "../instant.ts";
import type { Implementation, Library } from "../overload.ts";
import {
  Bytes,
  type CelList,
  type CelMap,
  type CelValue,
  Duration,
  Timestamp,
  TypeValue,
  typeNameOf,
  Uint,
} from "../value.ts";
import { checkedDuration, checkedInstant } from "./arithmetic.ts";

const NS_PER_SECOND = 1_000_000_000n;
const INT = /^[+-]?\d+$/;
const UINT = /^\d+$/;
const NUMBER = /^[+-]?(?:\d+\.?\d*(?:[eE][+-]?\d+)?|\.\d+(?:[eE][+-]?\d+)?)$/;
/** Longest text of a number; longer ones are not a 64-bit number. */
const NUMBER_MAX = 400;

function intFrom(value: bigint): bigint {
  if (BigInt.asIntN(64, value) !== value) throw new CelEvaluationError("integer overflow");
  return value;
}

function uintFrom(value: bigint): Uint {
  if (BigInt.asUintN(64, value) !== value) throw new CelEvaluationError("unsigned integer overflow");
  return new Uint(value);
}

/** The truncated double. The limits themselves are refused, because as doubles they are rounded. */
function intOfDouble(value: number): bigint {
  if (Number.isNaN(value) || Math.abs(value) >= 2 ** 63) throw new CelEvaluationError("integer overflow");
  return BigInt(Math.trunc(value));
}

function uintOfDouble(value: number): Uint {
  if (Number.isNaN(value) || value <= -1 || value >= 2 ** 64)
    throw new CelEvaluationError("unsigned integer overflow");
  return uintFrom(BigInt(Math.trunc(value)));
}

function intOfText(text: string): bigint {
  const value = text.length > NUMBER_MAX || !INT.test(text) ? undefined : BigInt(text.replace(/^\+/, ""));
  if (value === undefined || BigInt.asIntN(64, value) !== value) throw noConversion("int");
  return value;
}

function uintOfText(text: string): Uint {
  const value = text.length > NUMBER_MAX || !UINT.test(text) ? undefined : BigInt(text);
  if (value === undefined || BigInt.asUintN(64, value) !== value) throw noConversion("uint");
  return new Uint(value);
}

function noConversion(to: string): CelEvaluationError {
  return new CelEvaluationError(`type conversion error from 'string' to '${to}'`);
}

const SPECIAL_NUMBERS: ReadonlyMap<string, number> = new Map([
  ["nan", Number.NaN],
  ["inf", Number.POSITIVE_INFINITY],
  ["+inf", Number.POSITIVE_INFINITY],
  ["-inf", Number.NEGATIVE_INFINITY],
  ["infinity", Number.POSITIVE_INFINITY],
  ["+infinity", Number.POSITIVE_INFINITY],
  ["-infinity", Number.NEGATIVE_INFINITY],
]);

function doubleOfText(text: string): number {
  const special = SPECIAL_NUMBERS.get(text.toLowerCase());
  if (special !== undefined) return special;
  const value = text.length > NUMBER_MAX || !NUMBER.test(text) ? Number.NaN : Number(text);
  if (!Number.isFinite(value)) throw noConversion("double");
  return value;
}

/** Digits of the exponent from which Go writes scientific notation. */
const DIGITS_MAX = 6;

/** A double in Go's shortest form: `1`, `0.5`, `1e+06`. */
function doubleText(value: number): string {
  if (Number.isNaN(value)) return "NaN";
  if (!Number.isFinite(value)) return value > 0 ? "+Inf" : "-Inf";
  if (Object.is(value, -0)) return "-0";
  const [digits = "", exponent = "0"] = value.toExponential().split("e");
  const power = Number(exponent);
  if (power >= -4 && power < DIGITS_MAX) return String(value);
  return `${digits}e${power < 0 ? "-" : "+"}${String(Math.abs(power)).padStart(2, "0")}`;
}

function utf8Text({ data }: Bytes): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(data);
  } catch (error) {
    if (error instanceof TypeError)
      throw new CelEvaluationError("invalid UTF-8 in bytes, cannot convert to string");
    throw error;
  }
}

const TRUE: ReadonlySet<string> = new Set(["1", "t", "T", "true", "TRUE", "True"]);
const FALSE: ReadonlySet<string> = new Set(["0", "f", "F", "false", "FALSE", "False"]);

function boolOfText(text: string): boolean {
  if (TRUE.has(text)) return true;
  if (FALSE.has(text)) return false;
  throw noConversion("bool");
}

/** Parses a timestamp. Throws a CelEvaluationError; constant texts are also tried at compile time. */
export function timestampOf(text: string): Timestamp {
  const ns = instantOf(text);
  if (ns === undefined) throw noConversion("google.protobuf.Timestamp");
  return new Timestamp(ns, offsetMinutesOf(text));
}

export function timestampOfSeconds(seconds: bigint): CelValue {
  return checkedInstant(seconds * NS_PER_SECOND);
}

export function durationOf(text: string): Duration {
  try {
    return checkedDuration(parseDuration(text));
  } catch (error) {
    if (error instanceof SyntaxError) throw noConversion("google.protobuf.Duration");
    throw error;
  }
}

/** Decimal seconds in double precision. */
function secondsText(ns: bigint): string {
  const seconds = Number(ns / NS_PER_SECOND) + Number(ns % NS_PER_SECOND) / Number(NS_PER_SECOND);
  // JavaScript writes small numbers with an exponent; durations below a second have few digits.
  return Math.abs(seconds) < 1 ? decimalSeconds(ns) : `${seconds}s`;
}

function decimalSeconds(ns: bigint): string {
  const sign = ns < 0n ? "-" : "";
  const size = ns < 0n ? -ns : ns;
  const fraction = String(size % NS_PER_SECOND)
    .padStart(9, "0")
    .replace(/0+$/, "");
  return `${sign}${size / NS_PER_SECOND}${fraction === "" ? "" : `.${fraction}`}s`;
}

/** Text of a value with a `string()` or `%s` form; otherwise `undefined`. */
export function findText(value: CelValue): string | undefined {
  if (typeof value === "string") return value;
  if (typeof value === "number") return doubleText(value);
  if (typeof value === "bigint" || typeof value === "boolean") return String(value);
  if (value instanceof Uint) return String(value.value);
  if (value instanceof Timestamp) return instantText(value.ns, value.offsetMinutes);
  if (value instanceof Duration) return secondsText(value.ns);
  return value instanceof TypeValue ? value.name : undefined;
}

/** Parsing a text takes as long as about 25 simple steps. */
const PARSE_EFFORT = 25;

function parsed(parse: (text: string) => CelValue): Implementation {
  return ([text], run) => {
    run.charge(PARSE_EFFORT);
    return parse(text as string);
  };
}

const same: Implementation = ([value]) => value;

function floorSeconds(ns: bigint): bigint {
  const part = ((ns % NS_PER_SECOND) + NS_PER_SECOND) % NS_PER_SECOND;
  return (ns - part) / NS_PER_SECOND;
}

export function codePoints(text: string): number {
  let count = 0;
  for (const _ of text) count += 1;
  return count;
}

export const CONVERSIONS: Library = [
  ["bool(bool): bool", same],
  ["bool(string): bool", ([text]) => boolOfText(text as string)],
  ["int(int): int", same],
  ["int(uint): int", ([value]) => intFrom((value as Uint).value)],
  ["int(double): int", ([value]) => intOfDouble(value as number)],
  ["int(string): int", ([text]) => intOfText(text as string)],
  ["int(timestamp): int", ([value]) => floorSeconds((value as Timestamp).ns)],
  ["int(duration): int", ([value]) => (value as Duration).ns],
  ["uint(uint): uint", same],
  ["uint(int): uint", ([value]) => uintFrom(value as bigint)],
  ["uint(double): uint", ([value]) => uintOfDouble(value as number)],
  ["uint(string): uint", ([text]) => uintOfText(text as string)],
  ["double(double): double", same],
  ["double(int): double", ([value]) => Number(value as bigint)],
  ["double(uint): double", ([value]) => Number((value as Uint).value)],
  ["double(string): double", ([text]) => doubleOfText(text as string)],
  ["string(string): string", same],
  ...["bool", "int", "uint", "double", "timestamp", "duration"].map((type): Library[number] => [
    `string(${type}): string`,
    ([value]) => findText(value) ?? "",
  ]),
  [
    "string(bytes): string",
    ([value], run) => {
      run.chargeText((value as Bytes).data.length);
      return utf8Text(value as Bytes);
    },
  ],
  ["bytes(bytes): bytes", same],
  [
    "bytes(string): bytes",
    ([text], run) => {
      run.chargeText((text as string).length);
      return new Bytes(Buffer.from(text as string));
    },
  ],
  ["timestamp(timestamp): timestamp", same],
  ["timestamp(string): timestamp", parsed(timestampOf)],
  ["timestamp(int): timestamp", ([value]) => timestampOfSeconds(value as bigint)],
  ["duration(duration): duration", same],
  ["duration(string): duration", parsed(durationOf)],
  ["duration(int): duration", ([value]) => checkedDuration(value as bigint)],
  ["type(A): type<A>", ([value]) => new TypeValue(typeNameOf(value))],
  ["dyn(A): dyn", same],
  ...SIZES(),
];

function SIZES(): Library {
  const sizes: readonly (readonly [string, Implementation])[] = [
    [
      "string",
      ([text], run) => {
        run.chargeText((text as string).length);
        return BigInt(codePoints(text as string));
      },
    ],
    ["bytes", ([value]) => BigInt((value as Bytes).data.length)],
    ["list<A>", ([list]) => BigInt((list as CelList).size)],
    ["map<A, B>", ([map]) => BigInt((map as CelMap).size)],
  ];
  return sizes.flatMap(([type, apply]): Library => [
    [`size(${type}): int`, apply],
    [`${type} -> size(): int`, apply],
  ]);
}
