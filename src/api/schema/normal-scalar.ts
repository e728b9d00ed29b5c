/**
 * Converts scalars to normal form. Returns `MISMATCH` for a value of the wrong JSON type; the caller knows the path for
 * the error.
 */
import { canonicalQuantity } from "../values/quantity.ts";
import { canonicalMicroTime, canonicalTime } from "../values/time.ts";
import { DecodeError } from "./decode-error.ts";
import type { ScalarType } from "./schema.ts";

export const MISMATCH = Symbol("mismatch");

const INT32_MAX = 2 ** 31 - 1;
const INT64_MAX = 2n ** 63n - 1n;

/**
 * Fast path for canonical times, which are the most frequent. Days after the 28th depend on the month and take the slow
 * path.
 */
const CANONICAL_TIME =
  /^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|1\d|2[0-8])T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d{6})?Z$/;
const TIME_LENGTH = "2006-01-02T15:04:05Z".length;
/** Go's zero time, which Go writes as `null`. */
const ZERO_TIME = "0001-01-01T00:00:00";

const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/;

/** The argument is never null. */
const NORMALISERS: Readonly<Record<ScalarType, (value: unknown) => unknown>> = {
  string: (value) => (typeof value === "string" ? value : MISMATCH),
  boolean: (value) => (typeof value === "boolean" ? value : MISMATCH),
  // Adding zero turns negative zero into zero.
  int32: (value) => (isInt32(value) ? value + 0 : MISMATCH),
  int64: normalInt64,
  float: normalFloat,
  intOrString: normalIntOrString,
  quantity: normalQuantity,
  time: (value) => normalTime("time", value),
  microTime: (value) => normalTime("microTime", value),
  bytes: (value) => (typeof value === "string" ? normalBytes(value) : MISMATCH),
  raw: (value) => value,
};

/** `null` if Go would write `null`. The argument is never null. */
export function normalScalar(type: ScalarType, value: unknown): unknown {
  return NORMALISERS[type](value);
}

/** The name of a JSON value's type in Go's messages. With `isNumberType`, a number is followed by its text. */
export function goValueName(value: unknown, isNumberType: boolean): string {
  if (Array.isArray(value)) return "array";
  if (typeof value === "string") return "string";
  if (typeof value === "boolean") return "bool";
  if (typeof value !== "number" && typeof value !== "bigint") return "object";
  return isNumberType ? `number ${String(value)}` : "number";
}

function isInt32(value: unknown): value is number {
  return (
    Number.isInteger(value) && typeof value === "number" && value <= INT32_MAX && value >= -INT32_MAX - 1
  );
}

/** A number if it is exact, otherwise a bigint. */
function normalInt64(value: unknown): unknown {
  if (typeof value === "bigint") {
    if (value > INT64_MAX || value < -INT64_MAX - 1n) return MISMATCH;
    return exactInteger(value);
  }
  return typeof value === "number" && Number.isSafeInteger(value) ? value + 0 : MISMATCH;
}

function normalFloat(value: unknown): unknown {
  if (typeof value === "bigint") return Number(value);
  return typeof value === "number" ? value : MISMATCH;
}

/** A number if it is exact, otherwise a bigint. */
export function exactInteger(value: bigint): number | bigint {
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : value;
}

function normalIntOrString(value: unknown): unknown {
  if (typeof value === "string") return value;
  if (isInt32(value)) return value + 0;
  throw new DecodeError(`json: cannot unmarshal ${goValueName(value, true)} into Go value of type int32`);
}

function normalQuantity(value: unknown): unknown {
  const isNumber = typeof value === "number" || typeof value === "bigint";
  if (typeof value !== "string" && !isNumber) {
    throw new DecodeError(
      "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'",
    );
  }
  return canonical(canonicalQuantity, String(value));
}

function normalTime(type: "time" | "microTime", value: unknown): unknown {
  if (typeof value !== "string") {
    throw new DecodeError(`json: cannot unmarshal ${goValueName(value, false)} into Go value of type string`);
  }
  const isLong = value.length > TIME_LENGTH;
  if (CANONICAL_TIME.test(value) && isLong === (type === "microTime")) {
    return value.startsWith(ZERO_TIME) ? nonZeroTime(value) : value;
  }
  return nonZeroTime(canonical(type === "time" ? canonicalTime : canonicalMicroTime, value));
}

function nonZeroTime(text: string): string | null {
  return text === `${ZERO_TIME}Z` || text === `${ZERO_TIME}.000000Z` ? null : text;
}

function normalBytes(text: string): string {
  const again = Buffer.from(text, "base64").toString("base64");
  if (again === text) return text;
  // Go ignores line breaks. All other characters must be padded base64.
  const joined = text.replaceAll(/[\r\n]/g, "");
  if (joined.length % 4 === 0 && BASE64.test(joined)) return again;
  throw new DecodeError(`illegal base64 data at input byte ${String(illegalByte(joined))}`);
}

function illegalByte(text: string): number {
  const at = text.search(/[^A-Za-z0-9+/]/);
  return at === -1 ? text.length - (text.length % 4) : at;
}

function canonical(convert: (text: string) => string, text: string): string {
  try {
    return convert(text);
  } catch (error) {
    if (error instanceof SyntaxError) throw new DecodeError(error.message, { cause: error });
    throw error;
  }
}
