/** Encodes JSON as gnostic's protobuf messages. A table for each version of OpenAPI describes the messages. */
import { isJsonObject } from "../../../api/json/json-object.ts";
import type { JsonObject } from "../../../api/json/json-object.ts";
import { WireWriter } from "../../../api/protobuf/wire-writer.ts";
import { stringifyYaml } from "../../../api/yaml/yaml-text.ts";

/** `any` is a value as YAML text. */
type Plain = "text" | "boolean" | "integer" | "number" | "any";

/** Field and type of a value. `Name` is the union of a version's message names. */
export interface FieldPlace<Name extends string> {
  /** The field number, then the numbers of the nested messages around the value. */
  readonly at: readonly number[];
  readonly type: Plain | Name;
}

/** Encoding of one member of a JSON object. */
export interface Member<Name extends string> extends FieldPlace<Name> {
  readonly name: string;
  /** A map is a message with one entry per key: the key in field 1 and the value at `value`. */
  readonly map?: EntryPlace;
  /** Writes the whole list as one value instead of repeating the field. */
  readonly isWhole?: true;
}

export interface EntryPlace {
  readonly entry: number;
  readonly value: readonly number[];
}

/** Content of a message: members, or one of several alternatives. */
export type Shape<Name extends string> =
  | {
      /** Sorted by descending field number, because the writer writes backwards. */
      readonly members: readonly Member<Name>[];
      /** Field number of members whose name begins with `x-`. It is the highest. */
      readonly extensions?: number;
    }
  | { readonly choose: (value: unknown) => FieldPlace<Name> | undefined };

export type Shapes<Name extends string> = Readonly<Record<Name, Shape<Name>>>;

const VARINT = 0;
const DOUBLE = 1;
const LENGTH = 2;

export class GnosticWriter<Name extends string> {
  readonly #shapes: Shapes<Name>;
  readonly #writer = new WireWriter();

  constructor(shapes: Shapes<Name>) {
    this.#shapes = shapes;
  }

  finish(): Uint8Array {
    return this.#writer.finish();
  }

  message(name: Name, value: unknown): void {
    const shape = this.#shapes[name];
    if ("choose" in shape) {
      const place = shape.choose(value);
      if (place !== undefined) this.#value(place, value);
      return;
    }
    if (!isJsonObject(value)) return;
    if (shape.extensions !== undefined) this.#extensions(shape.extensions, value);
    for (const member of shape.members) {
      const found = value[member.name];
      if (found !== undefined) this.#member(member, found);
    }
  }

  entries(type: FieldPlace<Name>["type"], map: EntryPlace, value: JsonObject): void {
    for (const [key, item] of Object.entries(value).toReversed()) {
      this.#wrapped([map.entry], () => {
        this.#value({ at: map.value, type }, item);
        this.#value({ at: [1], type: "text" }, key);
      });
    }
  }

  /** Writes the head of a field in front of its content. */
  head(number: number, bytes: number): void {
    this.#writer.varint(bytes);
    this.#writer.varint(number * 8 + LENGTH);
  }

  #member({ at, type, map, isWhole }: Member<Name>, value: unknown): void {
    if (map !== undefined) {
      this.#wrapped(at, () => this.entries(type, map, value as JsonObject));
      return;
    }
    const isMany = Array.isArray(value) && isWhole !== true;
    for (const item of isMany ? (value as unknown[]).toReversed() : [value]) this.#value({ at, type }, item);
  }

  #value({ at, type }: FieldPlace<Name>, value: unknown): void {
    const number = at.at(-1) ?? 0;
    this.#wrapped(at.slice(0, -1), () => this.#field(number, type, value));
  }

  #field(number: number, type: FieldPlace<Name>["type"], value: unknown): void {
    const writer = this.#writer;
    switch (type) {
      case "text":
        writer.text(String(value));
        writer.varint(number * 8 + LENGTH);
        return;
      case "boolean":
        writer.varint(value === true ? 1 : 0);
        writer.varint(number * 8 + VARINT);
        return;
      case "integer":
        writer.integer(Number(value));
        writer.varint(number * 8 + VARINT);
        return;
      case "number":
        writer.double(Number(value));
        writer.varint(number * 8 + DOUBLE);
        return;
      case "any":
        this.#value({ at: [number, 2], type: "text" }, stringifyYaml(value));
        return;
      default:
        this.#wrapped([number], () => this.message(type, value));
    }
  }

  /** Nests the output of `write` in messages, the first number outermost. */
  #wrapped(numbers: readonly number[], write: () => void): void {
    const starts = numbers.map(() => this.#writer.length);
    write();
    for (const [index, number] of [...numbers.entries()].toReversed())
      this.head(number, this.#writer.length - (starts[index] ?? 0));
  }

  #extensions(number: number, value: JsonObject): void {
    for (const [key, extension] of Object.entries(value).toReversed()) {
      if (!key.startsWith("x-")) continue;
      this.#wrapped([number], () => {
        this.#value({ at: [2], type: "any" }, extension);
        this.#value({ at: [1], type: "text" }, key);
      });
    }
  }
}

/** Head of a field whose content is all these parts. */
export function sizedHead(number: number, parts: readonly Uint8Array[]): Uint8Array {
  const writer = new WireWriter();
  let bytes = 0;
  for (const part of parts) bytes += part.byteLength;
  writer.varint(bytes);
  writer.varint(number * 8 + LENGTH);
  return writer.finish();
}
