/**
 * What a CustomResourceDefinition says of the values of one version, compiled from its `openAPIV3Schema`: pruning, defaults,
 * validation and the nodes for apply all walk this. One kind of node stands for structure and for what is nested below
 * `allOf` and its like, where only the value rules are of meaning.
 */
import { Pattern } from "../formats/pattern.ts";
import type { JSONSchemaProps, ValidationRule } from "../generated/types/apiextensions-v1.ts";
import type { ListType } from "../schema/schema.ts";

export interface Structural {
  /** The JSON types a value may have; empty when any. */
  readonly types: readonly string[];
  readonly isNullable: boolean;
  /** `undefined` when there is no default. */
  readonly fallback: unknown;
  readonly properties: ReadonlyMap<string, Structural>;
  /** Of keys that `properties` does not name; `true` when anything may stand there. */
  readonly additional: Structural | boolean | undefined;
  readonly items: Structural | undefined;
  /** Fields that the schema does not name are kept. */
  readonly keepsUnknown: boolean;
  /** A value is an object of the API with apiVersion, kind and metadata. */
  readonly isEmbedded: boolean;
  readonly isIntOrString: boolean;
  readonly listType: ListType;
  readonly mapKeys: readonly string[];
  /** Apply treats the whole object as one value. */
  readonly isAtomic: boolean;
  /** There is a default here or below. */
  readonly hasDefaults: boolean;
  readonly rules: ValueRules;
  /** Rules in CEL, as they are written; what comes of them is made when first needed. */
  readonly expressions: readonly ValidationRule[];
  /** There is a rule in CEL here or below. */
  readonly hasExpressions: boolean;
}

/** What a value must be beyond its structure. */
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

/** How often a schema without any branch occurs: shared, since most nodes have none. */
const NONE: readonly Structural[] = [];
const NO_EXPRESSIONS: readonly ValidationRule[] = [];

/** The schema must have passed the checks of this folder. Its depth is bounded by that of bodies. */
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

/** One schema, and not a list of them or a boolean. */
export function isSchema(
  schema: JSONSchemaProps | readonly JSONSchemaProps[] | boolean | undefined,
): schema is JSONSchemaProps {
  return typeof schema === "object" && !Array.isArray(schema);
}

function compileAdditional(schema: JSONSchemaProps | boolean | undefined): Structural["additional"] {
  return isSchema(schema) ? compileStructural(schema) : schema;
}

type Children = Pick<Structural, "properties" | "additional" | "items">;

/** Whether one of the schemas directly below has the property. */
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
