/** Defaults of a structural schema. */
import { cloneJson } from "../json-clone.ts";
import { isJsonObject, type JsonObject, setOwn } from "../json-object.ts";
import type { Structural } from "./structural.ts";

/**
 * The value with the schema's defaults where nothing stands, or a null that may not stand there. The value is not changed;
 * it is the result itself when there is nothing to fill in.
 */
export function withDefaults(schema: Structural, value: unknown): unknown {
  if (!schema.hasDefaults) return value;
  if (Array.isArray(value)) return listWithDefaults(schema, value);
  return isJsonObject(value) ? objectWithDefaults(schema, value) : value;
}

function objectWithDefaults(schema: Structural, value: JsonObject): JsonObject {
  const filled = withMembers(schema, value);
  let changed: Record<string, unknown> | undefined;
  for (const key of Object.keys(filled)) {
    const inner = schema.properties.get(key) ?? schema.additional;
    const after = typeof inner === "object" ? withDefaults(inner, filled[key]) : filled[key];
    if (after !== filled[key]) setOwn((changed ??= { ...filled }), key, after);
  }
  return changed ?? filled;
}

/** With the defaults of the properties themselves. */
function withMembers({ properties }: Structural, value: JsonObject): JsonObject {
  let changed: Record<string, unknown> | undefined;
  for (const [name, { fallback, isNullable }] of properties) {
    if (fallback === undefined) continue;
    const isMissing = !Object.hasOwn(value, name) || (value[name] === null && !isNullable);
    if (isMissing) setOwn((changed ??= { ...value }), name, cloneJson(fallback));
  }
  return changed ?? value;
}

function listWithDefaults(schema: Structural, value: readonly unknown[]): readonly unknown[] {
  const { items } = schema;
  if (items === undefined) return value;
  let changed: unknown[] | undefined;
  for (const [at, item] of value.entries()) {
    const isReplaced = item === null && !items.isNullable && items.fallback !== undefined;
    const after = withDefaults(items, isReplaced ? cloneJson(items.fallback) : item);
    if (after !== item) (changed ??= [...value])[at] = after;
  }
  return changed ?? value;
}
