/**
 * Reads and writes the envelope of a protobuf object: four magic bytes, then a message with kind, apiVersion and the
 * object's message. Watch events, lists and single objects all use it.
 */
import type { JsonObject } from "../json/json-object.ts";
import { DecodeError } from "../schema/decode-error.ts";
import type { StructSchema } from "../schema/schema.ts";
import { decodeMessage } from "./decode.ts";
import { encodeMessage } from "./encode.ts";
import { WireReader } from "./wire-reader.ts";
import { WireWriter } from "./wire-writer.ts";

const MAGIC = Uint8Array.of(0x6b, 0x38, 0x73, 0x00);

const TYPE_META = 0x0a;
const RAW = 0x12;
const CONTENT_ENCODING = 0x1a;
const CONTENT_TYPE = 0x22;
/** Tags of the first two fields of the type meta and of a watch event: both are texts or messages. */
const FIRST = 0x0a;
const SECOND = 0x12;

export interface Envelope {
  readonly apiVersion: string;
  readonly kind: string;
  /** The object's message. */
  readonly raw: Uint8Array;
}

/** True if the bytes begin like an envelope. */
export function hasEnvelope(bytes: Uint8Array): boolean {
  return MAGIC.every((byte, at) => bytes[at] === byte);
}

export function readEnvelope(bytes: Uint8Array): Envelope {
  if (!hasEnvelope(bytes)) {
    throw new DecodeError(
      "provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]",
    );
  }
  const members = readTexts(bytes.subarray(MAGIC.length));
  const type = readTexts(members.get(TYPE_META) ?? new Uint8Array());
  for (const tag of [CONTENT_ENCODING, CONTENT_TYPE]) {
    if ((members.get(tag)?.length ?? 0) > 0) {
      throw new DecodeError("proto: the content of the envelope must be plain protobuf");
    }
  }
  return {
    apiVersion: textOf(type.get(FIRST)),
    kind: textOf(type.get(SECOND)),
    raw: members.get(RAW) ?? new Uint8Array(),
  };
}

export function writeEnvelope({ apiVersion, kind, raw }: Envelope): Uint8Array {
  const writer = new WireWriter();
  writer.text("");
  writer.varint(CONTENT_TYPE);
  writer.text("");
  writer.varint(CONTENT_ENCODING);
  writer.bytes(raw);
  writer.varint(raw.length);
  writer.varint(RAW);
  const before = writer.length;
  writer.text(kind);
  writer.varint(SECOND);
  writer.text(apiVersion);
  writer.varint(FIRST);
  writer.varint(writer.length - before);
  writer.varint(TYPE_META);
  writer.bytes(MAGIC);
  return writer.finish();
}

/** Encodes an object in normal form, in an envelope with its kind and apiVersion. */
export function encodeObject(schema: StructSchema, value: JsonObject): Uint8Array {
  const { apiVersion, kind } = value;
  return writeEnvelope({
    apiVersion: typeof apiVersion === "string" ? apiVersion : "",
    kind: typeof kind === "string" ? kind : "",
    raw: encodeMessage(schema, value),
  });
}

/** The object of the envelope in normal form, with kind and apiVersion. */
export function decodeObject(schema: StructSchema, { apiVersion, kind, raw }: Envelope): JsonObject {
  return decodeMessage(schema, raw, { apiVersion, kind });
}

/** The content of one watch frame. The object has an envelope; the event itself has none. */
export function encodeWatchEvent(type: string, object: Uint8Array): Uint8Array {
  const writer = new WireWriter();
  writer.bytes(object);
  writer.varint(object.length);
  writer.varint(FIRST);
  writer.varint(writer.length);
  writer.varint(SECOND);
  writer.text(type);
  writer.varint(FIRST);
  return writer.finish();
}

/** A list made of its encoded metadata and its encoded items. */
export function encodeList(
  type: { readonly apiVersion: string; readonly kind: string },
  metadata: Uint8Array,
  items: readonly Uint8Array[],
): Uint8Array {
  const writer = new WireWriter();
  for (let at = items.length - 1; at >= 0; at--) {
    const item = items[at] ?? new Uint8Array();
    writer.bytes(item);
    writer.varint(item.length);
    writer.varint(SECOND);
  }
  writer.bytes(metadata);
  writer.varint(metadata.length);
  writer.varint(FIRST);
  return writeEnvelope({ ...type, raw: writer.finish() });
}

/** The length-delimited fields of a message by tag. The last one wins if a field is repeated. */
function readTexts(bytes: Uint8Array): Map<number, Uint8Array> {
  const reader = new WireReader(bytes);
  const members = new Map<number, Uint8Array>();
  while (reader.at < reader.length) {
    const tag = reader.small(reader.length);
    if ((tag & 7) === 2) members.set(tag, reader.bytes(reader.length));
    else reader.skip(tag & 7, reader.length);
  }
  return members;
}

function textOf(bytes: Uint8Array | undefined): string {
  return bytes === undefined
    ? ""
    : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("utf8");
}
