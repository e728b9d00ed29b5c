/**
 * Messages for values of the wrong type in the result of a strategic merge patch. Upstream converts this result from a
 * map without JSON, so its messages differ from the JSON decoder's.
 */
import { isJsonObject } from "../json/json-object.ts";
import type { ScalarType, Schema } from "../schema/schema.ts";
import { goTypeName } from "./go-text.ts";

/** Go kinds of scalars. Other scalars have decoders of their own. */
const SIMPLE: Readonly<Partial<Record<ScalarType, string>>> = {
  string: "string",
  int32: "int32",
  int64: "int64",
  float: "float64",
  boolean: "bool",
};

/** Undefined for a type whose own decoder makes the message. */
export function findRestoreText(schema: Schema, value: unknown): string | undefined {
  if (schema.type === "struct") return `cannot restore struct from: ${kindOf(value)}`;
  if (schema.type === "map") return `cannot restore map from ${kindOf(value)}`;
  if (schema.type === "list" || schema.type === "bytes") return `cannot restore slice from ${kindOf(value)}`;
  const wanted = schema.type === "either" ? undefined : SIMPLE[schema.type];
  if (wanted === undefined) return undefined;
  return isConvertible(value, wanted)
    ? `cannot convert ${goTypeName(value)} to ${wanted}`
    : `unrecognized type: ${wanted}`;
}

function kindOf(value: unknown): string {
  if (Array.isArray(value)) return "slice";
  return isJsonObject(value) ? "map" : goTypeName(value);
}

/** True if the Go language converts between the types; it converts integers to strings. */
function isConvertible(value: unknown, wanted: string): boolean {
  if (typeof value !== "number" && typeof value !== "bigint") return false;
  return wanted === "string" ? goTypeName(value) === "int64" : wanted !== "bool";
}
