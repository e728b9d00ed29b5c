/** The definitions of a custom kind and its list, from the schema that its author wrote. */
import type { JSONSchemaProps } from "../../api/generated/types/apiextensions-v1.ts";
import type { JsonObject } from "../../api/json-object.ts";
import type { ResourceFacts } from "../../api/resource-facts.ts";
import { publishedName, reference } from "./definition-name.ts";
import type { Dialect } from "./definition-name.ts";

const OBJECT_META = "meta.v1.ObjectMeta";
const LIST_META = "meta.v1.ListMeta";
/** The structs that the definitions refer to. */
export const CUSTOM_REFERENCES: readonly string[] = [OBJECT_META, LIST_META];

/** The older version of OpenAPI has no words for these. */
const NOT_IN_V2: ReadonlySet<string> = new Set(["nullable", "oneOf", "anyOf", "allOf", "not"]);
/** What is said of a value that may be null, which the older version cannot say, says too much. */
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
  const own = withObjectFields(written(schema, dialect), dialect);
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
    [definition, { ...own, "x-kubernetes-group-version-kind": [{ group, version, kind }] }],
    [listDefinition(facts), list],
  ];
}

const API_VERSION = {
  description: "APIVersion names the version of the API in which this object is written, such as apps/v1.",
  type: "string",
};
const KIND = { description: "Kind names what this object is, such as Deployment.", type: "string" };

function metadata(description: string, definition: string, dialect: Dialect): JsonObject {
  const node = reference(publishedName(definition), dialect);
  return dialect === "v3" ? { description, allOf: [node] } : { description, ...node };
}

function withObjectFields(definition: JsonObject, dialect: Dialect): JsonObject {
  const description = "Metadata is what every object has: name, namespace, labels, annotations, owners.";
  const given = (definition["properties"] ?? {}) as JsonObject;
  const properties = {
    apiVersion: API_VERSION,
    kind: KIND,
    ...given,
    metadata: metadata(description, OBJECT_META, dialect),
  };
  return { ...definition, type: "object", properties };
}

/** As the author wrote it, as far as the dialect can say it. */
function written(schema: JSONSchemaProps, dialect: Dialect): JsonObject {
  const isOpen = dialect === "v2" && schema.nullable === true;
  const members = Object.entries(schema).filter(
    ([name]) => dialect === "v3" || (!NOT_IN_V2.has(name) && !(isOpen && STRUCTURE.has(name))),
  );
  const node: JsonObject = Object.fromEntries(
    members.map(([name, value]) => [name, member(name, value, dialect)]),
  );
  return schema["x-kubernetes-embedded-resource"] === true && !isOpen
    ? withObjectFields(node, dialect)
    : node;
}

/** Schemas in the schema; everything else stays as it is. */
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
