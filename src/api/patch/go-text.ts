/** Formats JSON values as Go's `%v` does, and names their types as Go's decoder does. Used only in messages. */
import { isJsonObject } from "../json/json-object.ts";

/** Example: `map[a:1 b:[x y]]`. */
export function goText(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(goText).join(" ")}]`;
  if (isJsonObject(value)) {
    const members = Object.keys(value).toSorted();
    return `map[${members.map((key) => `${key}:${goText(value[key])}`).join(" ")}]`;
  }
  return value === null || value === undefined
    ? "<nil>"
    : String(value as string | number | bigint | boolean);
}

/** Go type of a decoded JSON value. */
export function goTypeName(value: unknown): string {
  if (Array.isArray(value)) return "[]interface {}";
  if (isJsonObject(value)) return "map[string]interface {}";
  if (typeof value === "string") return "string";
  if (typeof value === "boolean") return "bool";
  if (typeof value === "number" && !Number.isInteger(value)) return "float64";
  return typeof value === "number" || typeof value === "bigint" ? "int64" : "%!s(<nil>)";
}

/** Name of the value's type in errors of Go's JSON decoder. */
export function goJsonWord(value: unknown): string {
  if (Array.isArray(value)) return "array";
  if (isJsonObject(value)) return "object";
  if (typeof value === "string") return "string";
  return typeof value === "boolean" ? "bool" : value === null ? "null" : "number";
}
