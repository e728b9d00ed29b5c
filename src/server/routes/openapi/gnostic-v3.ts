/**
 * Encodes OpenAPI v3 documents as gnostic's protobuf message. Field numbers come from the published descriptors of gnostic's
 * `openapi.v3`. Only the messages that our documents need are present.
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
  | "Parameter"
  | "RequestBody"
  | "Response"
  | "MediaType"
  | "Reference"
  | "ExternalDocs"
  | "Schema"
  | "SchemaOrReference"
  | "SchemaOrBoolean"
  | "Default";

const ENTRIES = { entry: 1, value: [2] };
const RESPONSES = { entry: 2, value: [2, 1] };

const SHAPES: Shapes<MessageName> = {
  Document: {
    members: [
      { name: "info", at: [2], type: "Info" },
      { name: "openapi", at: [1], type: "text" },
    ],
  },
  Info: {
    members: [
      { name: "version", at: [6], type: "text" },
      { name: "title", at: [1], type: "text" },
    ],
  },
  PathItem: {
    extensions: 14,
    members: [
      { name: "parameters", at: [13, 1], type: "Parameter" },
      { name: "patch", at: [10], type: "Operation" },
      { name: "head", at: [9], type: "Operation" },
      { name: "options", at: [8], type: "Operation" },
      { name: "delete", at: [7], type: "Operation" },
      { name: "post", at: [6], type: "Operation" },
      { name: "put", at: [5], type: "Operation" },
      { name: "get", at: [4], type: "Operation" },
    ],
  },
  Operation: {
    extensions: 13,
    members: [
      { name: "deprecated", at: [10], type: "boolean" },
      { name: "responses", at: [8], type: "Response", map: RESPONSES },
      { name: "requestBody", at: [7, 1], type: "RequestBody" },
      { name: "parameters", at: [6, 1], type: "Parameter" },
      { name: "operationId", at: [5], type: "text" },
      { name: "description", at: [3], type: "text" },
      { name: "tags", at: [1], type: "text" },
    ],
  },
  Parameter: {
    extensions: 14,
    members: [
      { name: "schema", at: [10], type: "SchemaOrReference" },
      { name: "required", at: [4], type: "boolean" },
      { name: "description", at: [3], type: "text" },
      { name: "in", at: [2], type: "text" },
      { name: "name", at: [1], type: "text" },
    ],
  },
  RequestBody: {
    extensions: 4,
    members: [
      { name: "required", at: [3], type: "boolean" },
      { name: "content", at: [2], type: "MediaType", map: ENTRIES },
    ],
  },
  Response: {
    extensions: 5,
    members: [
      { name: "content", at: [3], type: "MediaType", map: ENTRIES },
      { name: "description", at: [1], type: "text" },
    ],
  },
  MediaType: {
    extensions: 5,
    members: [{ name: "schema", at: [1], type: "SchemaOrReference" }],
  },
  Reference: {
    members: [{ name: "$ref", at: [1], type: "text" }],
  },
  ExternalDocs: {
    extensions: 3,
    members: [
      { name: "url", at: [2], type: "text" },
      { name: "description", at: [1], type: "text" },
    ],
  },
  Schema: {
    extensions: 36,
    members: [
      { name: "format", at: [35], type: "text" },
      { name: "description", at: [34], type: "text" },
      { name: "default", at: [33], type: "Default", isWhole: true },
      { name: "additionalProperties", at: [32], type: "SchemaOrBoolean" },
      { name: "properties", at: [31], type: "SchemaOrReference", map: ENTRIES },
      { name: "items", at: [30, 1], type: "SchemaOrReference" },
      { name: "not", at: [29], type: "Schema" },
      { name: "anyOf", at: [28], type: "SchemaOrReference" },
      { name: "oneOf", at: [27], type: "SchemaOrReference" },
      { name: "allOf", at: [26], type: "SchemaOrReference" },
      { name: "type", at: [25], type: "text" },
      { name: "enum", at: [24], type: "any" },
      { name: "required", at: [23], type: "text" },
      { name: "minProperties", at: [22], type: "integer" },
      { name: "maxProperties", at: [21], type: "integer" },
      { name: "uniqueItems", at: [20], type: "boolean" },
      { name: "minItems", at: [19], type: "integer" },
      { name: "maxItems", at: [18], type: "integer" },
      { name: "pattern", at: [17], type: "text" },
      { name: "minLength", at: [16], type: "integer" },
      { name: "maxLength", at: [15], type: "integer" },
      { name: "exclusiveMinimum", at: [14], type: "boolean" },
      { name: "minimum", at: [13], type: "number" },
      { name: "exclusiveMaximum", at: [12], type: "boolean" },
      { name: "maximum", at: [11], type: "number" },
      { name: "multipleOf", at: [10], type: "number" },
      { name: "title", at: [9], type: "text" },
      { name: "example", at: [7], type: "any", isWhole: true },
      { name: "externalDocs", at: [6], type: "ExternalDocs" },
      { name: "nullable", at: [1], type: "boolean" },
    ],
  },
  SchemaOrReference: {
    choose: (value) =>
      isJsonObject(value) && value["$ref"] !== undefined
        ? { at: [2], type: "Reference" }
        : { at: [1], type: "Schema" },
  },
  SchemaOrBoolean: {
    choose: (value) =>
      typeof value === "boolean" ? { at: [2], type: "boolean" } : { at: [1], type: "SchemaOrReference" },
  },
  // The message cannot express lists and objects. These defaults are present but empty.
  Default: { choose: (value) => DEFAULTS[typeof value] },
};

const DEFAULTS: Readonly<Record<string, FieldPlace<MessageName>>> = {
  number: { at: [1], type: "number" },
  boolean: { at: [2], type: "boolean" },
  string: { at: [3], type: "text" },
};

/** A document in parts: its head, and encoded pieces of its two maps. A large document is therefore not encoded in one step. */
export interface V3DocumentParts {
  readonly head: JsonObject;
  readonly paths: readonly Uint8Array[];
  readonly schemas: readonly Uint8Array[];
}

const PARTS = { paths: "PathItem", schemas: "SchemaOrReference" } as const;

/** Encodes some entries of a document's paths or schemas. */
export function encodeV3Entries(name: "paths" | "schemas", entries: JsonObject): Uint8Array {
  const writer = new GnosticWriter(SHAPES);
  writer.entries(PARTS[name], ENTRIES, entries);
  return writer.finish();
}

export function encodeV3Document({ head, paths, schemas }: V3DocumentParts): Uint8Array {
  const writer = new GnosticWriter(SHAPES);
  writer.message("Document", head);
  const inner = sizedHead(1, schemas);
  return Buffer.concat([
    writer.finish(),
    sizedHead(4, paths),
    ...paths,
    sizedHead(5, [inner, ...schemas]),
    inner,
    ...schemas,
  ]);
}
