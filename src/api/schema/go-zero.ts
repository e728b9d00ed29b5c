/** Go's zero values, which determine the fields that the normal form omits and fills in. */
import { type JsonObject, setOwn } from "../json/json-object.ts";
import type { Schema, StructField, StructSchema } from "./schema.ts";

/** Zeros that Go omits from JSON for a field with `omitempty`. */
const OMITTED: Readonly<Partial<Record<Schema["type"], unknown>>> = {
  string: "",
  bytes: "",
  int32: 0,
  int64: 0,
  float: 0,
  boolean: false,
};
const ZEROS: Readonly<Partial<Record<Schema["type"], unknown>>> = {
  ...OMITTED,
  intOrString: 0,
  quantity: "0",
};

/** True if the normal form omits the value, because Go would omit it. */
export function isOmitted({ pointer, always, schema }: StructField, value: unknown): boolean {
  if (pointer || always) return false;
  if (schema.type === "list") return Array.isArray(value) && value.length === 0;
  if (schema.type === "map") return typeof value === "object" && value !== null && isEmpty(value);
  return value === OMITTED[schema.type];
}

/**
 * The value Go holds for an absent field, in normal form; `null` means absent. Always new, because defaulting writes
 * into it. Unset lists and maps are empty instead of `null`, so that readers need no null check.
 */
export function zeroValue(schema: Schema): unknown {
  if (schema.type === "list") return [];
  if (schema.type === "map") return {};
  if (schema.type === "struct") return zeroStruct(schema);
  return ZEROS[schema.type] ?? null;
}

export function zeroStruct(schema: StructSchema): JsonObject {
  const value: Record<string, unknown> = {};
  for (const field of schema.filled) setOwn(value, field.name, zeroValue(field.schema));
  return value;
}

/** Builds a struct in normal form from its fields' values. `slots` holds them by the field's index. */
export function structFromSlots(schema: StructSchema, slots: readonly unknown[]): Record<string, unknown> {
  const value: Record<string, unknown> = {};
  for (const field of schema.fields) {
    const slot = slots[field.index];
    if (slot === undefined && !field.filled) continue;
    const member = slot === undefined ? zeroValue(field.schema) : slot;
    if (field.shadows) setOwn(value, field.name, member);
    else value[field.name] = member;
  }
  return value;
}

function isEmpty(value: object): boolean {
  for (const _ in value) return false;
  return true;
}
