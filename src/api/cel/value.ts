/**
 * Values of expressions. Numbers are apart by their JavaScript types: a bigint is an int, a number is a double, `Uint` is an
 * unsigned one. Whatever is not a primitive has a tag, which is the name of its type at run time.
 */

export type CelValue = boolean | bigint | number | string | null | TaggedValue;

export interface TaggedValue {
  readonly tag: string;
}

/** Unsigned 64-bit integers. */
export class Uint implements TaggedValue {
  readonly tag = "uint";
  readonly value: bigint;

  constructor(value: bigint) {
    this.value = value;
  }
}

export class Bytes implements TaggedValue {
  readonly tag = "bytes";
  readonly data: Uint8Array;

  constructor(data: Uint8Array) {
    this.data = data;
  }
}

/** An instant, in nanoseconds since 1970. */
export class Timestamp implements TaggedValue {
  readonly tag = "google.protobuf.Timestamp";
  readonly ns: bigint;
  /** How far the clock by which it is written is ahead of UTC. Says nothing of the instant. */
  readonly offsetMinutes: number;

  constructor(ns: bigint, offsetMinutes = 0) {
    this.ns = ns;
    this.offsetMinutes = offsetMinutes;
  }
}

/** A length of time in nanoseconds. */
export class Duration implements TaggedValue {
  readonly tag = "google.protobuf.Duration";
  readonly ns: bigint;

  constructor(ns: bigint) {
    this.ns = ns;
  }
}

/** A type as a value, as `type(1)` gives it. */
export class TypeValue implements TaggedValue {
  readonly tag = "type";
  readonly name: string;

  constructor(name: string) {
    this.name = name;
  }
}

export class Optional implements TaggedValue {
  readonly tag = "optional_type";
  /** `undefined` when there is none. */
  readonly value: CelValue | undefined;

  constructor(value: CelValue | undefined) {
    this.value = value;
  }
}

export const NONE = new Optional(undefined);

/** A list; items are made when asked for. */
export abstract class CelList implements TaggedValue {
  readonly tag = "list";
  abstract readonly size: number;

  /** `at` is within the list. */
  abstract at(at: number): CelValue;
}

export class PlainList extends CelList {
  readonly #items: readonly CelValue[];

  constructor(items: readonly CelValue[]) {
    super();
    this.#items = items;
  }

  get size(): number {
    return this.#items.length;
  }

  at(at: number): CelValue {
    return this.#items[at] ?? null;
  }
}

/** A map; values are made when asked for. */
export abstract class CelMap implements TaggedValue {
  readonly tag = "map";
  abstract readonly size: number;

  abstract find(key: CelValue): CelValue | undefined;
  abstract keys(): Iterable<CelValue>;

  /** Whether the key is in it; a map may find something for keys that are not. */
  has(key: CelValue): boolean {
    return this.find(key) !== undefined;
  }
}

/** Keys that are equal have the same text; numbers are equal whatever their type. `undefined` for what is no key. */
export function keyText(key: CelValue): string | undefined {
  if (typeof key === "string") return `s${key}`;
  if (typeof key === "bigint") return `n${key}`;
  if (typeof key === "boolean") return `b${key}`;
  if (typeof key === "number") return Number.isInteger(key) ? `n${BigInt(key)}` : undefined;
  return key instanceof Uint ? `n${key.value}` : undefined;
}

export class PlainMap extends CelMap {
  readonly #entries: ReadonlyMap<string, readonly [CelValue, CelValue]>;

  constructor(entries: ReadonlyMap<string, readonly [CelValue, CelValue]>) {
    super();
    this.#entries = entries;
  }

  get size(): number {
    return this.#entries.size;
  }

  find(key: CelValue): CelValue | undefined {
    const text = keyText(key);
    return text === undefined ? undefined : this.#entries.get(text)?.[1];
  }

  *keys(): Iterable<CelValue> {
    for (const [key] of this.#entries.values()) yield key;
  }
}

/** An object with named fields. */
export abstract class CelRecord implements TaggedValue {
  readonly tag = "object";
  abstract readonly typeName: string;

  /** `undefined` when the field is not set. */
  abstract find(field: string): CelValue | undefined;
  abstract fields(): Iterable<string>;
}

/** A record that an expression made. */
export class PlainRecord extends CelRecord {
  readonly typeName: string;
  readonly #fields: ReadonlyMap<string, CelValue>;

  constructor(typeName: string, fields: ReadonlyMap<string, CelValue>) {
    super();
    this.typeName = typeName;
    this.#fields = fields;
  }

  find(field: string): CelValue | undefined {
    return this.#fields.get(field);
  }

  fields(): Iterable<string> {
    return this.#fields.keys();
  }
}

/** Something that only the functions of a library understand. Equal to another when their texts are. */
export class Opaque<T> implements TaggedValue {
  readonly tag: string;
  readonly content: T;
  readonly identity: string;

  constructor(tag: string, content: T, identity: string) {
    this.tag = tag;
    this.content = content;
    this.identity = identity;
  }
}

/** The name of a value's type at run time; objects are `object`, whatever their name. */
export function tagOf(value: CelValue): string {
  if (typeof value === "string") return "string";
  if (typeof value === "bigint") return "int";
  if (typeof value === "boolean") return "bool";
  if (typeof value === "number") return "double";
  return value === null ? "null_type" : value.tag;
}

/** As `type(value)` names it. */
export function typeNameOf(value: CelValue): string {
  return value instanceof CelRecord ? value.typeName : tagOf(value);
}
