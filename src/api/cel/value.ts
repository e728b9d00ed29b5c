/**
 * Values of expressions. JavaScript types separate the numbers: a bigint is an int, a number is a double, `Uint` is an
 * unsigned integer. Each value that is not a primitive has a tag, the name of its type at run time.
 */

export type CelValue = boolean | bigint | number | string | null | TaggedValue;

export interface TaggedValue {
  readonly tag: string;
}

/** An unsigned 64-bit integer. */
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
  /** Offset from UTC in which the text is written. It does not change the instant. */
  readonly offsetMinutes: number;

  constructor(ns: bigint, offsetMinutes = 0) {
    this.ns = ns;
    this.offsetMinutes = offsetMinutes;
  }
}

/** A duration in nanoseconds. */
export class Duration implements TaggedValue {
  readonly tag = "google.protobuf.Duration";
  readonly ns: bigint;

  constructor(ns: bigint) {
    this.ns = ns;
  }
}

/** A type as a value, such as the result of `type(1)`. */
export class TypeValue implements TaggedValue {
  readonly tag = "type";
  readonly name: string;

  constructor(name: string) {
    this.name = name;
  }
}

export class Optional implements TaggedValue {
  readonly tag = "optional_type";
  /** `undefined` for an empty optional. */
  readonly value: CelValue | undefined;

  constructor(value: CelValue | undefined) {
    this.value = value;
  }
}

export const NONE = new Optional(undefined);

/** A list; items may be created on access. */
export abstract class CelList implements TaggedValue {
  readonly tag = "list";
  abstract readonly size: number;

  /** Item at an index, which must be within the list. */
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

/** A map; values may be created on access. */
export abstract class CelMap implements TaggedValue {
  readonly tag = "map";
  abstract readonly size: number;

  abstract find(key: CelValue): CelValue | undefined;
  abstract keys(): Iterable<CelValue>;

  /** True when the map has the key. `find` of a map may return values for other keys too. */
  has(key: CelValue): boolean {
    return this.find(key) !== undefined;
  }
}

/** Text of a key, equal for equal keys. Numbers are equal across types. `undefined` for an invalid key. */
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

  /** Value of a field; `undefined` when it is not set. */
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

/** A value that only the functions of a library understand. Two are equal when their identities are. */
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

/** Name of a value's type at run time; `object` for every object. */
export function tagOf(value: CelValue): string {
  if (typeof value === "string") return "string";
  if (typeof value === "bigint") return "int";
  if (typeof value === "boolean") return "bool";
  if (typeof value === "number") return "double";
  return value === null ? "null_type" : value.tag;
}

/** Name of the type as in `type(value)`. */
export function typeNameOf(value: CelValue): string {
  return value instanceof CelRecord ? value.typeName : tagOf(value);
}
