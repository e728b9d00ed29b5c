/**
 * Decodes protobuf messages into values in normal form. Unknown fields are skipped, as protobuf requires; malformed
 * messages throw a DecodeError. Work and memory are bounded by the message's length and by the number of values: an
 * empty message of two bytes may expand to a struct with many filled fields.
 */
import { type JsonObject, setOwn, withSortedKeys } from "../json/json-object.ts";
import { JSON_DEPTH_MAX, parseJson } from "../json/json-scan.ts";
import { DecodeError } from "../schema/decode-error.ts";
import { isOmitted, structFromSlots, zeroValue } from "../schema/go-zero.ts";
import type {
  EitherSchema,
  MapSchema,
  Schema,
  StructField,
  StructSchema,
  WireMessage,
} from "../schema/schema.ts";
import { TooLargeError, unitsOfEntry, unitsOfItem, unitsOfStruct, BodyWork } from "../work-budget.ts";
import { intOrStringOf, quantityOf, timeOf } from "./special-value.ts";
import { WireReader } from "./wire-reader.ts";
import { LENGTH, VARINT, wireTypeOf } from "./wire-type.ts";

const TEXT: Schema = { type: "string" };
const BOOLEAN: Schema = { type: "boolean" };

/** Decodes a message. `preset` supplies fields that the message does not contain: kind and apiVersion. */
export function decodeMessage(schema: StructSchema, bytes: Uint8Array, preset: JsonObject = {}): JsonObject {
  return new MessageDecoder(bytes).decode(schema, preset);
}

class MessageDecoder {
  readonly #reader: WireReader;
  readonly #budget = new BodyWork();
  #depth = 0;

  constructor(bytes: Uint8Array) {
    this.#reader = new WireReader(bytes);
  }

  decode(schema: StructSchema, preset: JsonObject): JsonObject {
    const slots: unknown[] = [];
    for (const [name, value] of Object.entries(preset)) {
      const field = schema.byName.get(name);
      if (field !== undefined) slots[field.index] = value;
    }
    return this.#struct(schema, slots, this.#reader.length);
  }

  #struct(schema: StructSchema, slots: unknown[], end: number): JsonObject {
    this.#budget.charge(unitsOfStruct(schema));
    this.#fields(schema.wire, slots, end);
    const { fields } = schema;
    for (let index = 0; index < slots.length; index++) {
      const value = slots[index];
      const field = fields[index];
      if (value !== undefined && field !== undefined) slots[index] = settled(field, value);
    }
    return structFromSlots(schema, slots);
  }

  #fields(message: WireMessage, slots: unknown[], end: number): void {
    const reader = this.#reader;
    if (++this.#depth > JSON_DEPTH_MAX) throw new DecodeError("proto: exceeded max depth");
    while (reader.at < end) {
      const tag = this.#nextTag(end);
      const entry = message.byNumber[tag >>> 3];
      if (entry === undefined) reader.skip(tag & 7, end);
      else if (entry.type === "message") {
        expectWireType(tag, LENGTH);
        this.#fields(entry.message, slots, reader.span(end));
      } else {
        const { index, schema } = entry.field;
        if (schema.type === "list" && !schema.wrapped) {
          this.#budget.charge(unitsOfItem(schema) - 1);
          this.#item(schema.items, own(slots, index), { tag, end });
        } else if (schema.type === "map") this.#mapEntry(schema, ownMap(slots, index), { tag, end });
        else slots[index] = this.#value(schema, tag, end);
      }
    }
    this.#depth--;
  }

  #value(schema: Schema, tag: number, end: number): unknown {
    const reader = this.#reader;
    const { type } = schema;
    expectWireType(tag, wireTypeOf(schema));
    if (type === "string") return reader.text(end);
    if (type === "boolean") return reader.integer(end) !== 0;
    if (type === "int32") return toInt32(reader.integer(end));
    if (type === "int64") return reader.integer(end);
    if (type === "float") return reader.double(end);
    if (type === "bytes") return reader.bytes(end).toString("base64");
    return this.#nested(schema, reader.span(end));
  }

  /** Decodes a value that is a nested message and ends at `end`. */
  #nested(schema: Schema, end: number): unknown {
    const reader = this.#reader;
    if (schema.type === "struct") return this.#struct(schema, [], end);
    if (schema.type === "time" || schema.type === "microTime") return timeOf(reader, schema.type, end);
    if (schema.type === "quantity") return quantityOf(reader, end);
    if (schema.type === "intOrString") return intOrStringOf(reader, end);
    if (schema.type === "list") return this.#wrapped(schema.items, end);
    if (schema.type === "either") return this.#either(schema, end);
    return this.#raw(end);
  }

  #item(items: Schema, list: unknown[], { tag, end }: Place): void {
    if ((tag & 7) !== LENGTH || wireTypeOf(items) !== VARINT) {
      list.push(this.#value(items, tag, end));
      return;
    }
    const until = this.#reader.span(end);
    while (this.#reader.at < until) {
      this.#countValue();
      list.push(this.#value(items, VARINT, until));
    }
  }

  #mapEntry(schema: MapSchema, map: Record<string, unknown>, { tag, end }: Place): void {
    const reader = this.#reader;
    expectWireType(tag, LENGTH);
    const until = reader.span(end);
    let key = "";
    let value: unknown;
    this.#budget.charge(unitsOfEntry(schema) - 1);
    while (reader.at < until) {
      const inner = this.#nextTag(until);
      if (inner >>> 3 === 1) key = String(this.#value(TEXT, inner, until));
      else if (inner >>> 3 === 2) value = this.#value(schema.values, inner, until);
      else reader.skip(inner & 7, until);
    }
    setOwn(map, key, value ?? zeroValue(schema.values));
  }

  #wrapped(items: Schema, end: number): readonly unknown[] {
    const list: unknown[] = [];
    while (this.#reader.at < end) {
      const tag = this.#nextTag(end);
      if (tag >>> 3 === 1) list.push(this.#value(items, tag, end));
      else this.#reader.skip(tag & 7, end);
    }
    return list;
  }

  /** Parses JSON inside a message, which has not been validated yet. It has the bounds of a JSON body. */
  #raw(end: number): unknown {
    let bytes: Uint8Array | undefined;
    while (this.#reader.at < end) {
      const tag = this.#nextTag(end);
      if (tag === 8 + LENGTH) bytes = this.#reader.bytes(end);
      else this.#reader.skip(tag & 7, end);
    }
    return bytes === undefined || bytes.length === 0 ? null : parseRaw(bytes);
  }

  #either({ struct, other }: EitherSchema, end: number): unknown {
    const structNumber = other === "boolean" ? 2 : 1;
    const list: unknown[] = [];
    let single: unknown;
    let isAllowed = false;
    while (this.#reader.at < end) {
      const tag = this.#nextTag(end);
      if (tag >>> 3 === structNumber) single = this.#value(struct, tag, end);
      else if (tag >>> 3 !== 3 - structNumber) this.#reader.skip(tag & 7, end);
      else if (other === "boolean") isAllowed = this.#value(BOOLEAN, tag, end) === true;
      else list.push(this.#value(other === "structs" ? struct : TEXT, tag, end));
    }
    if (other === "boolean") return single ?? isAllowed;
    return list.length > 0 ? list : (single ?? null);
  }

  #nextTag(end: number): number {
    this.#countValue();
    const tag = this.#reader.small(end);
    if (tag >>> 3 === 0) throw new DecodeError(`proto: illegal tag 0 (wire type ${String(tag)})`);
    return tag;
  }

  #countValue(): void {
    this.#budget.charge(1);
  }
}

interface Place {
  readonly tag: number;
  readonly end: number;
}

/** The field's value in normal form. Undefined if the normal form omits it. */
function settled(field: StructField, value: unknown): unknown {
  if (value === null || isOmitted(field, value)) return undefined;
  return field.schema.type === "map" ? withSortedKeys(value as JsonObject) : value;
}

/** The list in a slot, created on first use. */
function own(slots: unknown[], index: number): unknown[] {
  return (slots[index] ??= []) as unknown[];
}

function ownMap(slots: unknown[], index: number): Record<string, unknown> {
  return (slots[index] ??= {}) as Record<string, unknown>;
}

/** The low 32 bits, as in Go. */
function toInt32(value: number | bigint): number {
  return typeof value === "number" ? value | 0 : Number(BigInt.asIntN(32, value));
}

function expectWireType(tag: number, wireType: number): void {
  if ((tag & 7) === wireType) return;
  throw new DecodeError(`proto: wrong wireType = ${String(tag & 7)} for field ${String(tag >>> 3)}`);
}

function parseRaw(bytes: Uint8Array): unknown {
  try {
    return parseJson(bytes).value;
  } catch (error) {
    if (error instanceof TooLargeError) throw error;
    if (error instanceof SyntaxError || error instanceof RangeError) {
      throw new DecodeError(error.message, { cause: error });
    }
    throw error;
  }
}
