/** Converts structural schemas to the nodes that apply, patches and OpenAPI use. */
import type { JsonObject } from "../json/json-object.ts";
import { builtInStruct } from "../schema/built-in-schema.ts";
import {
  type FieldOptions,
  type ListSchema,
  type Schema,
  type ScalarType,
  StructSchema,
} from "../schema/schema.ts";
import { toCustomNormalForm } from "./custom-normal-form.ts";
import type { Structural } from "./structural.ts";

export interface KindName {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
}

/** The struct of a custom kind, whose normal form is that of this schema. */
export function kindStruct({ group, version, kind }: KindName, schema: Structural): StructSchema {
  return new StructSchema({
    name: kind,
    definition: `${group}.${version}.${kind}`,
    keepsUnknown: schema.keepsUnknown,
    fields: () => objectFields({ ...schema, isEmbedded: true }, `${group}.${version}.${kind}`),
    normalForm: (value, budget) => toCustomNormalForm(schema, withMetadata(value), budget),
  });
}

/** Adds empty metadata to an object without any, as objects of built-in kinds have it. */
function withMetadata(value: JsonObject): JsonObject {
  return (value["metadata"] ?? undefined) === undefined ? { ...value, metadata: {} } : value;
}

const SCALARS: Readonly<Record<string, ScalarType>> = {
  string: "string",
  integer: "int64",
  number: "float",
  boolean: "boolean",
};

function nodeOf(schema: Structural, name: string): Schema {
  if (schema.isIntOrString) return { type: "intOrString" };
  const [type = ""] = schema.types;
  if (type === "array") return listNode(schema, name);
  if (type === "object") return objectNode(schema, name);
  return type === "" ? { type: "raw", isGranular: schema.keepsUnknown } : { type: SCALARS[type] ?? "raw" };
}

function listNode({ items, listType, mapKeys }: Structural, name: string): ListSchema {
  const item: Schema = items === undefined ? { type: "raw" } : nodeOf(items, `${name}.items`);
  return { type: "list", items: item, listType, keys: listType === "map" ? mapKeys : [], wrapped: false };
}

function objectNode(schema: Structural, name: string): Schema {
  const { additional, isAtomic, properties } = schema;
  if (properties.size === 0 && additional !== undefined && additional !== false) {
    const values: Schema = additional === true ? { type: "raw" } : nodeOf(additional, `${name}.values`);
    return { type: "map", values, atomic: isAtomic };
  }
  return new StructSchema({
    name: name.slice(name.lastIndexOf(".") + 1),
    definition: name,
    atomic: isAtomic,
    keepsUnknown: schema.keepsUnknown,
    fields: () => objectFields(schema, name),
  });
}

function objectFields({ properties, isEmbedded }: Structural, name: string): readonly FieldOptions[] {
  const fields = new Map<string, FieldOptions>();
  for (const [key, property] of properties)
    fields.set(key, fieldOf(key, nodeOf(property, `${name}.${key}`), property));
  if (!isEmbedded) return [...fields.values()];
  for (const key of ["apiVersion", "kind"]) fields.set(key, fieldOf(key, { type: "string" }));
  fields.set("metadata", { ...fieldOf("metadata", builtInStruct("meta.v1.ObjectMeta")), pointer: false });
  return [...fields.values()];
}

/** A field without zero semantics: zeros are values and nothing is filled in, as with a pointer in Go. */
function fieldOf(name: string, schema: Schema, { fallback }: Partial<Structural> = {}): FieldOptions {
  return {
    name,
    schema,
    pointer: true,
    always: false,
    wirePath: [],
    patchStrategies: [],
    mergeKey: undefined,
    required: false,
    defaultValue: isScalar(fallback) ? fallback : undefined,
  };
}

function isScalar(value: unknown): value is string | number | boolean {
  return typeof value === "string" || typeof value === "number" || typeof value === "boolean";
}
