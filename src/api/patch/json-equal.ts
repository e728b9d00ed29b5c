/** Deep equality of JSON values. The order of keys does not matter, and a number equals a bigint of the same double. */
import { isJsonObject, type JsonObject } from "../json/json-object.ts";

export function jsonEqual(left: unknown, right: unknown): boolean {
  if (left === right) return true;
  if (Array.isArray(left)) return Array.isArray(right) && listsEqual(left, right);
  if (isJsonObject(left)) return isJsonObject(right) && objectsEqual(left, right);
  return isNumber(left) && isNumber(right) && numbersEqual(left, right);
}

function listsEqual(left: readonly unknown[], right: readonly unknown[]): boolean {
  if (left.length !== right.length) return false;
  for (let at = 0; at < left.length; at++) {
    if (!jsonEqual(left[at], right[at])) return false;
  }
  return true;
}

function objectsEqual(left: JsonObject, right: JsonObject): boolean {
  const keys = Object.keys(left);
  if (keys.length !== Object.keys(right).length) return false;
  for (const key of keys) {
    if (!Object.hasOwn(right, key) || !jsonEqual(left[key], right[key])) return false;
  }
  return true;
}

function isNumber(value: unknown): value is number | bigint {
  return typeof value === "number" || typeof value === "bigint";
}

/**
 * Compares as doubles, as upstream does: a double beyond 2^53 is written as an integer and may be read back as a
 * slightly different bigint.
 */
function numbersEqual(left: number | bigint, right: number | bigint): boolean {
  return typeof left !== typeof right && Number(left) === Number(right);
}
