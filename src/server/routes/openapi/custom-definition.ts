/** Builds the definitions of a custom kind and its list from the author's schema. */
import type { JSONSchemaProps } from "../../../api/generated/types/apiextensions-v1.ts";
import type { JsonObject } from "../../../api/json/json-object.ts";
import type { ResourceFacts } from "../../../api/schema/resource-facts.ts";
import { publishedName, reference } from "./definition-name.ts";
import type { Dialect } from "./definition-name.ts";

const OBJECT_META = "meta.v1.ObjectMeta";
const LIST_META = "meta.v1.ListMeta";
/** Structs that the definitions refer to. */
export const CUSTOM_REFERENCES: readonly string[] = [OBJECT_META, LIST_META];

/** Keywords that OpenAPI v2 lacks. Defaults are left out there too, as upstream does. */
const NOT_IN_V2: ReadonlySet<string> = new Set(["nullable", "oneOf", "anyOf", "allOf", "not", "default"]);
/** Keywords that v2 omits for a value that may be null or have further fields. It can express neither. */
const STRUCTURE: ReadonlySet<string> = new Set([
  "type",
  "format",
  "properties",
  "items",
  "additionalProperties",
]);

export function listDefinition({ definition = "", listKind, kind }: ResourceFacts): string {
  return definition.slice(0, -kind.length) + (listKind ?? `${kind}List`);
}

export function customDefinitions(
  facts: ResourceFacts,
  schema: JSONSchemaProps,
  dialect: Dialect,
): readonly (readonly [name: string, definition: JsonObject])[] {
  const { group, version, kind, definition = "", listKind = `${kind}List` } = facts;
  const own = isOpen(schema, dialect) ? ANYTHING : withObjectFields(written(schema, dialect), dialect);
  const list = {
    description: `${listKind} is a list of ${kind}`,
    type: "object",
    required: ["items"],
    properties: {
      apiVersion: API_VERSION,
      items: {
        description: `List of ${facts.name}.`,
        type: "array",
        items: reference(definition, dialect),
      },
      kind: KIND,
      metadata: metadata("Standard list metadata.", LIST_META, dialect),
    },
    "x-kubernetes-group-version-kind": [{ group, version, kind: listKind }],
  };
  return [
    [
      definition,
      {
        ...own,
        "x-kubernetes-group-version-kind": [{ group, version, kind }],
        ...selectable(facts),
      },
    ],
    [listDefinition(facts), list],
  ];
}

/** Fields that lists and watches can select by. */
function selectable({ fieldSelectors }: ResourceFacts): JsonObject {
  if (fieldSelectors.length === 0) return {};
  return { "x-kubernetes-selectable-fields": fieldSelectors.map((fieldPath) => ({ fieldPath })) };
}

/** Client tests expect these first words. */
const COMMON_TEXTS = {
  apiVersion: "APIVersion defines the group and version in which this object is written, such as apps/v1.",
  kind: "Kind is the type of this object in CamelCase, such as Deployment. It cannot be changed.",
  metadata: "Standard object's metadata: name, namespace, labels, annotations and owners.",
} as const;
const API_VERSION = { description: COMMON_TEXTS.apiVersion, type: "string" };
const KIND = { description: COMMON_TEXTS.kind, type: "string" };
/** The v2 form of an open object. With any known field, v2 clients would refuse all unknown ones. */
const ANYTHING = { type: "object" };

/** Whether v2 cannot express the value: null, or an object with fields beyond the named ones. */
function isOpen(schema: JSONSchemaProps, dialect: Dialect): boolean {
  return (
    dialect === "v2" && (schema.nullable === true || schema["x-kubernetes-preserve-unknown-fields"] === true)
  );
}

function metadata(description: string, definition: string, dialect: Dialect): JsonObject {
  const node = reference(publishedName(definition), dialect);
  return dialect === "v3" ? { description, allOf: [node] } : { description, ...node };
}

function withObjectFields(definition: JsonObject, dialect: Dialect): JsonObject {
  const given = (definition["properties"] ?? {}) as JsonObject;
  const properties = {
    apiVersion: API_VERSION,
    kind: KIND,
    ...given,
    metadata: metadata(COMMON_TEXTS.metadata, OBJECT_META, dialect),
  };
  return { ...definition, type: "object", properties };
}

/** The author's schema, reduced to the keywords of the dialect. */
function written(schema: JSONSchemaProps, dialect: Dialect): JsonObject {
  const isVague = isOpen(schema, dialect);
  const members = Object.entries(schema).filter(
    ([name]) => dialect === "v3" || (!NOT_IN_V2.has(name) && !(isVague && STRUCTURE.has(name))),
  );
  const node: JsonObject = Object.fromEntries(
    members.map(([name, value]) => [name, member(name, value, dialect)]),
  );
  if (schema["x-kubernetes-embedded-resource"] === true && !isVague)
    return { ...withObjectFields(node, dialect), required: withBoth(schema.required ?? []) };
  const isUnsaid = schema.anyOf === undefined && schema.allOf === undefined;
  return dialect === "v3" && schema["x-kubernetes-int-or-string"] === true && isUnsaid
    ? { ...node, anyOf: [{ type: "integer" }, { type: "string" }] }
    : node;
}

/** An embedded object must state its kind and apiVersion. */
function withBoth(required: readonly string[]): readonly string[] {
  return [...required, ...["kind", "apiVersion"].filter((name) => !required.includes(name))];
}

/** Converts nested schemas. Other values stay the same. */
function member(name: string, value: unknown, dialect: Dialect): unknown {
  switch (name) {
    case "properties":
      return Object.fromEntries(
        Object.entries(value as Readonly<Record<string, JSONSchemaProps>>).map(([key, property]) => [
          key,
          written(property, dialect),
        ]),
      );
    case "items":
    case "not":
      return written(value as JSONSchemaProps, dialect);
    case "additionalProperties":
      return typeof value === "boolean" ? value : written(value as JSONSchemaProps, dialect);
    case "allOf":
    case "anyOf":
    case "oneOf":
      return (value as readonly JSONSchemaProps[]).map((nested) => written(nested, dialect));
    default:
      return value;
  }
}
