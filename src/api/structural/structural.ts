/**
 * The schema of one version of a CustomResourceDefinition, compiled from its `openAPIV3Schema`. Pruning, defaults,
 * validation and apply all use it. The same node type describes structure and the branches below `allOf`, `anyOf`, `oneOf`
 * and `not`, where only the value rules apply.
 */
import { Pattern } from "../formats/pattern.ts";
import type { JSONSchemaProps, ValidationRule } from "../generated/types/apiextensions-v1.ts";
import type { ListType } from "../schema/schema.ts";

export interface Structural {
  /** Allowed JSON types; empty when any. */
  readonly types: readonly string[];
  readonly isNullable: boolean;
  /** `undefined` when there is no default. */
  readonly fallback: unknown;
  readonly properties: ReadonlyMap<string, Structural>;
  /** Schema of keys that `properties` does not name; `true` when any value is allowed. */
  readonly additional: Structural | boolean | undefined;
  readonly items: Structural | undefined;
  /** True when unknown fields are kept. */
  readonly keepsUnknown: boolean;
  /** True when the value is an API object with apiVersion, kind and metadata. */
  readonly isEmbedded: boolean;
  readonly isIntOrString: boolean;
  readonly listType: ListType;
  readonly mapKeys: readonly string[];
  /** True when apply treats the whole object as one value. */
  readonly isAtomic: boolean;
  /** True when there is a default here or below. */
  readonly hasDefaults: boolean;
  readonly rules: ValueRules;
  /** CEL rules as written; they are compiled on first use. */
  readonly expressions: readonly ValidationRule[];
  /** True when there is a CEL rule here or below. */
  readonly hasExpressions: boolean;
}

/** Rules for a value beyond its structure. */
export interface ValueRules {
  readonly required: readonly string[];
  readonly enum: readonly unknown[] | undefined;
  readonly format: string;
  readonly pattern: Pattern | undefined;
  readonly minLength: number | undefined;
  readonly maxLength: number | undefined;
  readonly minimum: number | undefined;
  readonly maximum: number | undefined;
  readonly isAboveMinimum: boolean;
  readonly isBelowMaximum: boolean;
  readonly multipleOf: number | undefined;
  readonly minItems: number | undefined;
  readonly maxItems: number | undefined;
  readonly minProperties: number | undefined;
  readonly maxProperties: number | undefined;
  readonly allOf: readonly Structural[];
  readonly anyOf: readonly Structural[];
  readonly oneOf: readonly Structural[];
  readonly not: Structural | undefined;
}

/** Empty lists, shared because most nodes have no branch and no rule. */
const NONE: readonly Structural[] = [];
const NO_EXPRESSIONS: readonly ValidationRule[] = [];

/** Compiles a schema, which must have passed the checks of this folder. Its depth is bounded by that of request bodies. */
export function compileStructural(schema: JSONSchemaProps): Structural {
  const properties = new Map<string, Structural>();
  for (const [name, property] of Object.entries(schema.properties ?? {})) {
    properties.set(name, compileStructural(property));
  }
  const additional = compileAdditional(schema.additionalProperties);
  const items = isSchema(schema.items) ? compileStructural(schema.items) : undefined;
  const fallback = schema.default ?? undefined;
  const isIntOrString = schema["x-kubernetes-int-or-string"] === true;
  const expressions = schema["x-kubernetes-validations"] ?? NO_EXPRESSIONS;
  const children: Children = { properties, additional, items };
  return {
    types: isIntOrString ? INT_OR_STRING : typesOf(schema),
    isNullable: schema.nullable === true,
    fallback,
    properties,
    additional,
    items,
    keepsUnknown: schema["x-kubernetes-preserve-unknown-fields"] === true,
    isEmbedded: schema["x-kubernetes-embedded-resource"] === true,
    isIntOrString,
    listType: listTypeOf(schema["x-kubernetes-list-type"]),
    mapKeys: schema["x-kubernetes-list-map-keys"] ?? [],
    isAtomic: schema["x-kubernetes-map-type"] === "atomic",
    hasDefaults: fallback !== undefined || holds(children, ({ hasDefaults }) => hasDefaults),
    rules: compileRules(schema),
    expressions,
    hasExpressions: expressions.length > 0 || holds(children, ({ hasExpressions }) => hasExpressions),
  };
}

const INT_OR_STRING: readonly string[] = ["integer", "string"];

function typesOf({ type = "" }: JSONSchemaProps): readonly string[] {
  return type === "" ? [] : [type];
}

function listTypeOf(text: string | undefined): ListType {
  return text === "map" || text === "set" ? text : "atomic";
}

/** True for a single schema, as opposed to a list or a boolean. */
export function isSchema(
  schema: JSONSchemaProps | readonly JSONSchemaProps[] | boolean | undefined,
): schema is JSONSchemaProps {
  return typeof schema === "object" && !Array.isArray(schema);
}

function compileAdditional(schema: JSONSchemaProps | boolean | undefined): Structural["additional"] {
  return isSchema(schema) ? compileStructural(schema) : schema;
}

type Children = Pick<Structural, "properties" | "additional" | "items">;

/** True when one of the direct child schemas has the property. */
function holds({ properties, additional, items }: Children, has: (child: Structural) => boolean): boolean {
  if (items !== undefined && has(items)) return true;
  if (typeof additional === "object" && has(additional)) return true;
  for (const property of properties.values()) if (has(property)) return true;
  return false;
}

function compileRules(schema: JSONSchemaProps): ValueRules {
  const { pattern = "", format = "" } = schema;
  return {
    required: schema.required ?? [],
    enum: schema.enum,
    format,
    pattern: pattern === "" ? undefined : new Pattern(pattern),
    minLength: schema.minLength,
    maxLength: schema.maxLength,
    minimum: schema.minimum,
    maximum: schema.maximum,
    isAboveMinimum: schema.exclusiveMinimum === true,
    isBelowMaximum: schema.exclusiveMaximum === true,
    multipleOf: schema.multipleOf,
    minItems: schema.minItems,
    maxItems: schema.maxItems,
    minProperties: schema.minProperties,
    maxProperties: schema.maxProperties,
    allOf: compileAll(schema.allOf),
    anyOf: compileAll(schema.anyOf),
    oneOf: compileAll(schema.oneOf),
    not: schema.not === undefined ? undefined : compileStructural(schema.not),
  };
}

function compileAll(schemas: readonly JSONSchemaProps[] | undefined): readonly Structural[] {
  return schemas === undefined || schemas.length === 0 ? NONE : schemas.map(compileStructural);
}
