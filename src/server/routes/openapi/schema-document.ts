/** Writes schema nodes as OpenAPI schemas. */
import type { JsonObject } from "../../../api/json/json-object.ts";
import { builtInStruct } from "../../../api/schema/built-in-schema.ts";
import type {
  ListSchema,
  ScalarSchema,
  Schema,
  StructField,
  StructSchema,
} from "../../../api/schema/schema.ts";
import type { DefinitionContext } from "./definition-context.ts";
import { publishedName, reference } from "./definition-name.ts";
import type { Dialect } from "./definition-name.ts";
import { SPECIAL } from "./special-definition.ts";

const PLAIN: Readonly<Record<string, JsonObject>> = {
  string: { type: "string" },
  int32: { type: "integer", format: "int32" },
  int64: { type: "integer", format: "int64" },
  float: { type: "number", format: "double" },
  boolean: { type: "boolean" },
  bytes: { type: "string", format: "byte" },
};

/** The published definition of a struct. */
export function definitionOf(struct: StructSchema, context: DefinitionContext): JsonObject {
  const kinds = context.kindsOf(struct);
  const required = struct.fields.filter((field) => field.required).map(({ name }) => name);
  const properties = Object.fromEntries(
    struct.fields.map((field) => [field.name, propertyOf(struct, field, context)]),
  );
  const description = context.descriptions.ofType(struct);
  return {
    ...(description !== undefined && { description }),
    type: "object",
    ...(struct.fields.length > 0 && { properties }),
    ...(required.length > 0 && { required }),
    ...(kinds.length > 0 && { "x-kubernetes-group-version-kind": kinds }),
    ...(builtInStruct(struct.definition).atomic && { "x-kubernetes-map-type": "atomic" }),
    ...(struct.keepsUnknown && { "x-kubernetes-preserve-unknown-fields": true }),
  };
}

function propertyOf(struct: StructSchema, field: StructField, context: DefinitionContext): JsonObject {
  const { dialect, descriptions } = context;
  const node = nodeOf(field.schema, { struct, field: field.name, dialect });
  const description = descriptions.ofField(struct, field.name);
  const { mergeKey, patchStrategies, defaultValue } = field;
  const more = {
    ...(description !== undefined && { description }),
    ...(defaultValue !== undefined && { default: defaultValue }),
    ...(mergeKey !== undefined && { "x-kubernetes-patch-merge-key": mergeKey }),
    ...(patchStrategies.length > 0 && { "x-kubernetes-patch-strategy": patchStrategies.join(",") }),
    ...mapTypeOverride(field.schema),
  };
  return beside(node, more, dialect);
}

/** OpenAPI v3 allows no other members beside a reference. */
function beside(node: JsonObject, more: JsonObject, dialect: Dialect): JsonObject {
  if (Object.keys(more).length === 0) return node;
  if (dialect === "v3" && "$ref" in node) return { allOf: [node], ...more };
  return { ...node, ...more };
}

/** Present when a field's own marker differs from the marker of its type. */
function mapTypeOverride(schema: Schema): JsonObject {
  if (schema.type !== "struct" || schema.atomic === builtInStruct(schema.definition).atomic) return {};
  return { "x-kubernetes-map-type": schema.atomic ? "atomic" : "granular" };
}

interface NodePlace {
  readonly struct: StructSchema;
  readonly field: string;
  readonly dialect: Dialect;
}

function nodeOf(schema: Schema, place: NodePlace): JsonObject {
  if (schema.type === "struct") return reference(publishedName(schema.definition), place.dialect);
  if (schema.type === "list") return listNode(schema, place);
  if (schema.type === "either") return reference(SPECIAL[schema.other], place.dialect);
  if (schema.type !== "map") return scalarNode(schema, place);
  return {
    type: "object",
    additionalProperties: nodeOf(schema.values, place),
    ...(schema.atomic && { "x-kubernetes-map-type": "atomic" }),
  };
}

/** A list with a strategic merge strategy is not published as atomic, even if apply treats it so. */
function listNode(schema: ListSchema, place: NodePlace): JsonObject {
  const field = place.struct.byName.get(place.field);
  const isMarked = schema.listType !== "atomic" || field?.patchStrategies.includes("merge") !== true;
  return {
    type: "array",
    items: nodeOf(schema.items, place),
    ...(isMarked && { "x-kubernetes-list-type": schema.listType }),
    ...(schema.keys.length > 0 && { "x-kubernetes-list-map-keys": schema.keys }),
  };
}

function scalarNode(schema: ScalarSchema, place: NodePlace): JsonObject {
  const special = specialName(schema, place);
  if (special !== undefined) return reference(special, place.dialect);
  const plain = PLAIN[schema.type] ?? {};
  return schema.enum === undefined ? plain : { ...plain, enum: schema.enum };
}

/** Published name of a scalar with its own definition. */
export function specialName(
  { type }: ScalarSchema,
  { struct, field }: Pick<NodePlace, "struct" | "field">,
): string | undefined {
  if (type === "quantity" || type === "time" || type === "microTime" || type === "intOrString") {
    return SPECIAL[type];
  }
  if (type !== "raw") return undefined;
  if (field === "fieldsV1") return SPECIAL.fieldsV1;
  return struct.definition.startsWith("apiextensions.") ? SPECIAL.json : SPECIAL.rawExtension;
}
