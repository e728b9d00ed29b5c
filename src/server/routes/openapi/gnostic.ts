/**
 * Encodes OpenAPI v2 documents as gnostic's protobuf message. Field numbers come from the published descriptors of gnostic's
 * `openapi.v2`. Only the messages that our documents need are present.
 */
import { isJsonObject } from "../../../api/json/json-object.ts";
import type { JsonObject } from "../../../api/json/json-object.ts";
import { GnosticWriter, sizedHead } from "./gnostic-writer.ts";
import type { FieldPlace, Shapes } from "./gnostic-writer.ts";

type MessageName =
  | "Document"
  | "Info"
  | "PathItem"
  | "Operation"
  | "Body"
  | "Query"
  | "Path"
  | "Response"
  | "Parameter"
  | "SharedParameter"
  | "Reference"
  | "SecurityDefinition"
  | "ApiKey"
  | "Schema";

const SCHEMAS = { entry: 1, value: [2] };

const PATHS = { at: [8], type: "PathItem", map: { entry: 2, value: [2] } } as const;
const DEFINITIONS = { at: [9], type: "Schema", map: SCHEMAS } as const;

const SHAPES: Shapes<MessageName> = {
  Document: {
    members: [
      { name: "securityDefinitions", at: [13], type: "SecurityDefinition", map: { entry: 1, value: [2] } },
      // Names of security requirements without scopes.
      { name: "security", at: [12, 1, 1], type: "text" },
      { name: "parameters", at: [10], type: "SharedParameter", map: { entry: 1, value: [2] } },
      { name: "info", at: [2], type: "Info" },
      { name: "swagger", at: [1], type: "text" },
    ],
  },
  Info: {
    members: [
      { name: "version", at: [2], type: "text" },
      { name: "title", at: [1], type: "text" },
    ],
  },
  PathItem: {
    members: [
      { name: "parameters", at: [9], type: "Parameter" },
      { name: "patch", at: [8], type: "Operation" },
      { name: "head", at: [7], type: "Operation" },
      { name: "options", at: [6], type: "Operation" },
      { name: "delete", at: [5], type: "Operation" },
      { name: "post", at: [4], type: "Operation" },
      { name: "put", at: [3], type: "Operation" },
      { name: "get", at: [2], type: "Operation" },
    ],
  },
  Operation: {
    extensions: 13,
    members: [
      { name: "responses", at: [9], type: "Response", map: { entry: 1, value: [2, 1] } },
      { name: "parameters", at: [8], type: "Parameter" },
      { name: "consumes", at: [7], type: "text" },
      { name: "produces", at: [6], type: "text" },
      { name: "operationId", at: [5], type: "text" },
      { name: "tags", at: [1], type: "text" },
    ],
  },
  /** The wrapper message depends on the place of the parameter. */
  Parameter: {
    choose: (value) => {
      if (!isJsonObject(value)) return undefined;
      return value["$ref"] === undefined ? PARAMETERS[String(value["in"])] : REFERENCE;
    },
  },
  SharedParameter: {
    choose: (value) => (isJsonObject(value) ? SHARED_PARAMETERS[String(value["in"])] : undefined),
  },
  Reference: { members: [{ name: "$ref", at: [1], type: "text" }] },
  SecurityDefinition: { choose: () => ({ at: [2], type: "ApiKey" }) },
  ApiKey: {
    members: [
      { name: "description", at: [4], type: "text" },
      { name: "in", at: [3], type: "text" },
      { name: "name", at: [2], type: "text" },
      { name: "type", at: [1], type: "text" },
    ],
  },
  Body: {
    members: [
      { name: "schema", at: [5], type: "Schema" },
      { name: "required", at: [4], type: "boolean" },
      { name: "in", at: [3], type: "text" },
      { name: "name", at: [2], type: "text" },
    ],
  },
  Query: {
    members: [
      { name: "uniqueItems", at: [20], type: "boolean" },
      { name: "type", at: [6], type: "text" },
      { name: "name", at: [4], type: "text" },
      { name: "description", at: [3], type: "text" },
      { name: "in", at: [2], type: "text" },
    ],
  },
  Path: {
    members: [
      { name: "uniqueItems", at: [19], type: "boolean" },
      { name: "type", at: [5], type: "text" },
      { name: "name", at: [4], type: "text" },
      { name: "description", at: [3], type: "text" },
      { name: "in", at: [2], type: "text" },
      { name: "required", at: [1], type: "boolean" },
    ],
  },
  Response: {
    members: [
      { name: "schema", at: [2, 1], type: "Schema" },
      { name: "description", at: [1], type: "text" },
    ],
  },
  Schema: {
    extensions: 31,
    members: [
      { name: "properties", at: [25], type: "Schema", map: SCHEMAS },
      { name: "allOf", at: [24], type: "Schema" },
      { name: "items", at: [23, 1], type: "Schema" },
      { name: "type", at: [22, 1], type: "text" },
      { name: "additionalProperties", at: [21, 1], type: "Schema" },
      { name: "enum", at: [20], type: "any" },
      { name: "required", at: [19], type: "text" },
      { name: "default", at: [5], type: "any" },
      { name: "description", at: [4], type: "text" },
      { name: "format", at: [2], type: "text" },
      { name: "$ref", at: [1], type: "text" },
    ],
  },
};

const PARAMETERS: Readonly<Record<string, FieldPlace<MessageName>>> = {
  body: { at: [1, 1], type: "Body" },
  query: { at: [1, 2, 3], type: "Query" },
  path: { at: [1, 2, 4], type: "Path" },
};
const REFERENCE: FieldPlace<MessageName> = { at: [2], type: "Reference" };
const SHARED_PARAMETERS: Readonly<Record<string, FieldPlace<MessageName>>> = {
  body: { at: [1], type: "Body" },
  query: { at: [2, 3], type: "Query" },
  path: { at: [2, 4], type: "Path" },
};

/** A document in parts: its head, and encoded pieces of its two maps. A large document is therefore not encoded in one step. */
export interface DocumentParts {
  readonly head: JsonObject;
  readonly paths: readonly Uint8Array[];
  readonly definitions: readonly Uint8Array[];
}

/** Encodes some entries of a document's paths or definitions. */
export function encodeEntries(name: "paths" | "definitions", entries: JsonObject): Uint8Array {
  const writer = new GnosticWriter(SHAPES);
  const { type, map } = name === "paths" ? PATHS : DEFINITIONS;
  writer.entries(type, map, entries);
  return writer.finish();
}

export function encodeDocument({ head, paths, definitions }: DocumentParts): Uint8Array {
  const writer = new GnosticWriter(SHAPES);
  writer.message("Document", head);
  return Buffer.concat([
    writer.finish(),
    sizedHead(PATHS.at[0], paths),
    ...paths,
    sizedHead(DEFINITIONS.at[0], definitions),
    ...definitions,
  ]);
}
