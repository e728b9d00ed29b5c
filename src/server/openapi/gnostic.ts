/**
 * An OpenAPI 2 document as the protobuf message some clients ask for. Numbers are those of the published descriptors of
 * gnostic's `openapi.v2`; only what our documents contain is here.
 */
import { isJsonObject } from "../../api/json-object.ts";
import type { JsonObject } from "../../api/json-object.ts";
import { WireWriter } from "../../api/protobuf/wire-writer.ts";
import { stringifyYaml } from "../../api/yaml-text.ts";

/** How one member of a JSON object is written. `any` is a value as YAML text. */
interface Member {
  readonly name: string;
  /** The field, then the fields of the messages it is wrapped in. */
  readonly at: readonly number[];
  readonly type: "text" | "boolean" | "any" | MessageName;
  /** A map is a message with an entry for each key, which holds the key in 1 and the value at `value`. */
  readonly map?: { readonly entry: number; readonly value: readonly number[] };
}

type MessageName =
  | "Document"
  | "Info"
  | "PathItem"
  | "Operation"
  | "Body"
  | "Query"
  | "Path"
  | "Response"
  | "Schema";

const VARINT = 0;
const LENGTH = 2;

const SCHEMAS = { entry: 1, value: [2] };

const PATHS = { at: [8], type: "PathItem", map: { entry: 2, value: [2] } } as const;
const DEFINITIONS = { at: [9], type: "Schema", map: SCHEMAS } as const;

/** By falling number, which is how the writer wants them. Extensions (`x-…`) are named in EXTENSIONS. */
const MEMBERS: Readonly<Record<MessageName, readonly Member[]>> = {
  Document: [
    { name: "info", at: [2], type: "Info" },
    { name: "swagger", at: [1], type: "text" },
  ],
  Info: [
    { name: "version", at: [2], type: "text" },
    { name: "title", at: [1], type: "text" },
  ],
  PathItem: [
    { name: "patch", at: [8], type: "Operation" },
    { name: "delete", at: [5], type: "Operation" },
    { name: "post", at: [4], type: "Operation" },
    { name: "put", at: [3], type: "Operation" },
    { name: "get", at: [2], type: "Operation" },
  ],
  Operation: [
    { name: "responses", at: [9], type: "Response", map: { entry: 1, value: [2, 1] } },
    { name: "consumes", at: [7], type: "text" },
    { name: "produces", at: [6], type: "text" },
    { name: "operationId", at: [5], type: "text" },
    { name: "tags", at: [1], type: "text" },
  ],
  Body: [
    { name: "schema", at: [5], type: "Schema" },
    { name: "required", at: [4], type: "boolean" },
    { name: "in", at: [3], type: "text" },
    { name: "name", at: [2], type: "text" },
  ],
  Query: [
    { name: "uniqueItems", at: [20], type: "boolean" },
    { name: "type", at: [6], type: "text" },
    { name: "name", at: [4], type: "text" },
    { name: "in", at: [2], type: "text" },
  ],
  Path: [
    { name: "uniqueItems", at: [19], type: "boolean" },
    { name: "type", at: [5], type: "text" },
    { name: "name", at: [4], type: "text" },
    { name: "in", at: [2], type: "text" },
    { name: "required", at: [1], type: "boolean" },
  ],
  Response: [
    { name: "schema", at: [2, 1], type: "Schema" },
    { name: "description", at: [1], type: "text" },
  ],
  Schema: [
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
};

const EXTENSIONS: Readonly<Partial<Record<MessageName, number>>> = { Operation: 13, Schema: 31 };

/** Parameters are wrapped by where they stand; their list comes before or after all other members. */
const PARAMETERS: Readonly<Partial<Record<MessageName, number>>> = { PathItem: 9, Operation: 8 };
const PARAMETER_KINDS: Readonly<
  Record<string, { readonly at: readonly number[]; readonly type: MessageName }>
> = {
  body: { at: [1, 1], type: "Body" },
  query: { at: [1, 2, 3], type: "Query" },
  path: { at: [1, 2, 4], type: "Path" },
};

/** A document in parts, so that a large one need not be written at once: its head, then parts of its two maps. */
export interface DocumentParts {
  readonly head: JsonObject;
  readonly paths: readonly Uint8Array[];
  readonly definitions: readonly Uint8Array[];
}

/** Some of the entries of a document's paths or definitions. */
export function encodeEntries(name: "paths" | "definitions", entries: JsonObject): Uint8Array {
  const writer = new WireWriter();
  const { type, map } = name === "paths" ? PATHS : DEFINITIONS;
  writeEntries(writer, { type, map }, entries);
  return writer.finish();
}

export function encodeDocument({ head, paths, definitions }: DocumentParts): Uint8Array {
  const writer = new WireWriter();
  writeMessage(writer, "Document", head);
  return Buffer.concat([
    writer.finish(),
    sizedHead(PATHS, paths),
    ...paths,
    sizedHead(DEFINITIONS, definitions),
    ...definitions,
  ]);
}

function sizedHead({ at }: Pick<Member, "at">, parts: readonly Uint8Array[]): Uint8Array {
  const writer = new WireWriter();
  let bytes = 0;
  for (const part of parts) bytes += part.byteLength;
  writer.varint(bytes);
  writer.varint((at[0] ?? 0) * 8 + LENGTH);
  return writer.finish();
}

function writeMessage(writer: WireWriter, message: MessageName, value: JsonObject): void {
  const extensions = EXTENSIONS[message];
  if (extensions !== undefined) writeExtensions(writer, extensions, value);
  const parameters = PARAMETERS[message];
  if (parameters !== undefined) writeParameters(writer, parameters, value["parameters"]);
  for (const member of MEMBERS[message]) {
    const found = value[member.name];
    if (found !== undefined) writeMember(writer, member, found);
  }
}

function writeMember(writer: WireWriter, member: Member, value: unknown): void {
  const { at, type, map } = member;
  if (map !== undefined) {
    wrapped(writer, at, () => writeEntries(writer, { type, map }, value as JsonObject));
    return;
  }
  for (const item of Array.isArray(value) ? (value as unknown[]).toReversed() : [value]) {
    writeValue(writer, { at, type }, item);
  }
}

function writeEntries(
  writer: WireWriter,
  { type, map }: { readonly type: Member["type"]; readonly map: NonNullable<Member["map"]> },
  value: JsonObject,
): void {
  for (const [key, item] of Object.entries(value).toReversed()) {
    wrapped(writer, [map.entry], () => {
      writeValue(writer, { at: map.value, type }, item);
      writeValue(writer, { at: [1], type: "text" }, key);
    });
  }
}

function writeValue(writer: WireWriter, { at, type }: Pick<Member, "at" | "type">, value: unknown): void {
  const outer = at.slice(0, -1);
  const number = at.at(-1) ?? 0;
  wrapped(writer, outer, () => {
    if (type === "text") {
      writer.text(String(value));
      writer.varint(number * 8 + LENGTH);
    } else if (type === "boolean") {
      writer.varint(value === true ? 1 : 0);
      writer.varint(number * 8 + VARINT);
    } else wrapped(writer, [number], () => writeContent(writer, type, value));
  });
}

function writeContent(writer: WireWriter, type: "any" | MessageName, value: unknown): void {
  if (type === "any") writeValue(writer, { at: [2], type: "text" }, stringifyYaml(value));
  else if (isJsonObject(value)) writeMessage(writer, type, value);
}

/** Puts what `write` writes into messages, the first number outermost. */
function wrapped(writer: WireWriter, numbers: readonly number[], write: () => void): void {
  const starts = numbers.map(() => writer.length);
  write();
  for (const [index, number] of [...numbers.entries()].toReversed()) {
    writer.varint(writer.length - (starts[index] ?? 0));
    writer.varint(number * 8 + LENGTH);
  }
}

function writeExtensions(writer: WireWriter, number: number, value: JsonObject): void {
  for (const [key, extension] of Object.entries(value).toReversed()) {
    if (!key.startsWith("x-")) continue;
    wrapped(writer, [number], () => {
      writeValue(writer, { at: [2], type: "any" }, extension);
      writeValue(writer, { at: [1], type: "text" }, key);
    });
  }
}

function writeParameters(writer: WireWriter, number: number, parameters: unknown): void {
  if (!Array.isArray(parameters)) return;
  for (const parameter of (parameters as JsonObject[]).toReversed()) {
    const kind = PARAMETER_KINDS[String(parameter["in"])];
    if (kind !== undefined) writeValue(writer, { at: [number, ...kind.at], type: kind.type }, parameter);
  }
}
