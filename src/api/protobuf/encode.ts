/**
 * Encodes values in normal form as protobuf, byte for byte as Go does: fields by ascending number, zeros of non-pointer
 * fields included, maps sorted by key. Everything is written from back to front (see WireWriter).
 */
import { type JsonObject, isSorted } from "../json/json-object.ts";
import { stringifyAsGo } from "../json/json-text.ts";
import { zeroValue } from "../schema/go-zero.ts";
import type { EitherSchema, MapSchema, Schema, StructSchema, WireMessage } from "../schema/schema.ts";
import { LENGTH, VARINT, wireTypeOf } from "./wire-type.ts";
import { WireWriter } from "./wire-writer.ts";

const NOTHING: JsonObject = {};
/** Types that are slices, maps or pointers in Go, which are not written while nil. */
const UNWRITTEN: ReadonlySet<Schema["type"]> = new Set(["list", "map", "bytes", "either"] as const);
const TEXT: Schema = { type: "string" };

/** Encodes a struct. The value must be in normal form of the schema; the encoder does not check it. */
export function encodeMessage(schema: StructSchema, value: JsonObject): Uint8Array {
  return new MessageEncoder().encode(schema, value);
}

class MessageEncoder {
  readonly #writer = new WireWriter();

  encode(schema: StructSchema, value: JsonObject): Uint8Array {
    this.#message(schema.wire, value);
    return this.#writer.finish();
  }

  /** Plain reads are safe: no built-in field has the name of a member of Object.prototype. */
  #message({ entries }: WireMessage, value: JsonObject): void {
    for (let at = entries.length - 1; at >= 0; at--) {
      const entry = entries[at];
      if (entry === undefined) continue;
      if (entry.type === "message") {
        const before = this.#writer.length;
        this.#message(entry.message, value);
        this.#close(before, entry.number);
        continue;
      }
      const { name, schema, pointer } = entry.field;
      const member = value[name];
      if (member !== undefined) this.#field(schema, member, entry.number);
      else if (!pointer) this.#zero(schema, entry.number);
    }
  }

  #field(schema: Schema, value: unknown, number: number): void {
    if (schema.type === "list" && !schema.wrapped)
      this.#items(schema.items, value as readonly unknown[], number);
    else if (schema.type === "map") this.#entries(schema, value as JsonObject, number);
    else this.#value(schema, value, number);
  }

  /** Writes an unset non-pointer field as Go does. */
  #zero(schema: Schema, number: number): void {
    if (UNWRITTEN.has(schema.type)) return;
    this.#value(schema, schema.type === "struct" ? NOTHING : zeroValue(schema), number);
  }

  /** Writes one value with its tag. A list here is a wrapped list. */
  #value(schema: Schema, value: unknown, number: number): void {
    const writer = this.#writer;
    const { type } = schema;
    if (type === "string") writer.text(String(value));
    else if (type === "boolean") writer.varint(value === true ? 1 : 0);
    else if (type === "int32" || type === "int64")
      writer.integer(typeof value === "bigint" ? value : Number(value));
    else if (type === "bytes") writer.sized(Buffer.from(String(value), "base64"));
    else if (type === "float") writer.double(Number(value));
    else {
      const before = writer.length;
      this.#nested(schema, value);
      writer.varint(writer.length - before);
    }
    this.#tag(number, wireTypeOf(schema));
  }

  /** Writes the content of a value that is a nested message. */
  #nested(schema: Schema, value: unknown): void {
    const { type } = schema;
    if (type === "struct") this.#message(schema.wire, value as JsonObject);
    else if (type === "quantity") this.#value(TEXT, value, 1);
    else if (type === "intOrString") this.#intOrString(value);
    else if (type === "list") this.#items(schema.items, value as readonly unknown[], 1);
    else if (type === "either") this.#either(schema, value);
    else if (value === null) return;
    else if (type === "raw") this.#value(TEXT, stringifyAsGo(value), 1);
    else this.#time(value as string);
  }

  #items(items: Schema, list: readonly unknown[], number: number): void {
    for (let at = list.length - 1; at >= 0; at--) this.#value(items, list[at], number);
  }

  #entries(schema: MapSchema, map: JsonObject, number: number): void {
    const keys = Object.keys(map);
    const sorted = isSorted(keys) ? keys : keys.toSorted();
    for (let at = sorted.length - 1; at >= 0; at--) {
      const key = sorted[at] ?? "";
      const before = this.#writer.length;
      this.#value(schema.values, map[key], 2);
      this.#value(TEXT, key, 1);
      this.#close(before, number);
    }
  }

  #intOrString(value: unknown): void {
    const isText = typeof value === "string";
    this.#value(TEXT, isText ? value : "", 3);
    this.#writer.integer(isText ? 0 : Number(value));
    this.#tag(2, VARINT);
    this.#writer.varint(isText ? 1 : 0);
    this.#tag(1, VARINT);
  }

  /** `text` is `2006-01-02T15:04:05Z`, or the same with six decimals before the zone. */
  #time(text: string): void {
    const micros = text.length > 20 ? Number(text.slice(20, 26)) : 0;
    this.#writer.varint(micros * 1000);
    this.#tag(2, VARINT);
    this.#writer.integer(Date.parse(micros === 0 ? text : `${text.slice(0, 19)}Z`) / 1000);
    this.#tag(1, VARINT);
  }

  /** A schema in place of the boolean implies true, and Go writes both. */
  #either({ struct, other }: EitherSchema, value: unknown): void {
    if (other === "boolean") {
      if (typeof value !== "boolean") this.#value(struct, value, 2);
      this.#writer.varint(value === false ? 0 : 1);
      this.#tag(1, VARINT);
      return;
    }
    if (Array.isArray(value)) this.#items(other === "structs" ? struct : TEXT, value, 2);
    else if (value !== null) this.#value(struct, value, 1);
  }

  #close(before: number, number: number): void {
    this.#writer.varint(this.#writer.length - before);
    this.#tag(number, LENGTH);
  }

  #tag(number: number, wireType: number): void {
    this.#writer.varint(number * 8 + wireType);
  }
}
