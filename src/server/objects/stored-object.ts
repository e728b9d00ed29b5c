/**
 * The forms of one stored object: decoded, encoded, served. Each is made on first use and kept in the entry's slot,
 * so live state, history and watch events share them. Stored bytes contain no resourceVersion: it is the entry's mod
 * revision, and is inserted at the offset that the encoder noted.
 */
import { isJsonObject, setOwn } from "../../api/json/json-object.ts";
import type { JsonObject } from "../../api/json/json-object.ts";
import { stringifyJson } from "../../api/json/json-text.ts";
import type { ApiObject } from "../../resources/rules/kind-rules.ts";
import type { Entry, Slot } from "../../store/store.ts";
import { findKey } from "./json-offset.ts";
import { exactBytes, isEncoded } from "./object-encoder.ts";
import type { Encoded } from "./object-encoder.ts";
import { keepRecent } from "./recent-objects.ts";
import type { RecentObject } from "./recent-objects.ts";
import { findSpec } from "./stored/stored-json.ts";
import { readStoredJson } from "./stored/stored-json.ts";

/** Reads values in any stored form. Throws an ApiError for an unreadable one. */
export interface ValueDecoder {
  decode(entry: Entry): DecodedValue;
}

export interface DecodedValue {
  /** JSON in the storage version; the stored bytes themselves if they are that. */
  readonly bytes: Buffer;
  /** True if a write today would store the value differently. */
  readonly isStale: boolean;
  /** The parsed object, if decoding parsed it. */
  readonly object?: ApiObject | undefined;
}

/** Slot of an entry that was not read yet: knows how to read the value. */
export class UnreadValue {
  readonly decoder: ValueDecoder;
  /** Unencrypted form of a value written by this process. */
  readonly written: Encoded | undefined;

  constructor(decoder: ValueDecoder, written: Encoded | undefined) {
    this.decoder = decoder;
    this.written = written;
  }
}

/** The decoded form, as far as it is in memory. */
type Known =
  /** Written by this process and not read yet. Has no resourceVersion. */
  | { readonly form: "written"; readonly object: ApiObject }
  /** Without its resourceVersion, while the cache of recent objects keeps it. */
  | RecentObject
  /** Complete, as `object` returns it. */
  | { readonly form: "decoded"; readonly object: ApiObject }
  | typeof NONE;

const NONE = { form: "none", object: undefined } as const;

export class StoredObject implements Slot {
  readonly #entry: Entry;
  /** Undefined for an entry of a store without decoders. */
  readonly decoder: ValueDecoder | undefined;
  /** True if a write today would store the value differently. */
  readonly isStale: boolean;
  readonly #spliceAt: number | undefined;
  #known: Known;
  #json: Buffer | undefined;

  protected constructor(entry: Entry, { decoder, written, decoded }: Origin) {
    this.#entry = entry;
    this.decoder = decoder;
    this.isStale = decoded?.isStale ?? false;
    this.#spliceAt = written?.spliceAt;
    if (written !== undefined) this.#known = { form: "written", object: written.object };
    else this.#known = decoded?.object === undefined ? NONE : recent(decoded.object, decoded.bytes.length);
  }

  /** The entry's only instance, shared by all callers. Throws an ApiError for an unreadable value. */
  static of(entry: Entry): StoredObject {
    if (entry.slot instanceof StoredObject) return entry.slot;
    const origin = originOf(entry);
    const { decoded } = origin;
    const isPlain = decoded === undefined || isSameMemory(decoded.bytes, entry.value);
    const stored = isPlain
      ? new StoredObject(entry, origin)
      : new ConvertedObject(entry, origin, decoded.bytes);
    entry.slot = stored;
    return stored;
  }

  /** True if writing this would be a no-op. */
  isWrittenAs(encoded: Encoded): boolean {
    return !this.isStale && encoded.bytes.equals(this.plainJson(this.#entry));
  }

  get resourceVersion(): string {
    return String(this.#entry.modRevision);
  }

  /** Decoded object in the storage version, with its resourceVersion. Shared: callers never change it. */
  get object(): ApiObject {
    const known = this.#known;
    if (known.form === "decoded") return known.object;
    const object = withResourceVersion(known.object ?? this.#parse(), this.resourceVersion);
    this.#known = { form: "decoded", object };
    if (known.form === "recent") known.object = undefined;
    return object;
  }

  /** For scans over many objects: parses without caching. The result may lack the resourceVersion. */
  peek(): ApiObject {
    return this.#known.object ?? this.#parse();
  }

  /** Same as the function `findSpecText`, for a readable value. */
  findSpecText(): Buffer | undefined {
    const span = findSpec(this.#plainBuffer());
    return span?.bytes.subarray(span.start, span.end);
  }

  /** `object` as served JSON. */
  get json(): Buffer {
    return (this.#json ??= this.#splice(ownBuffer));
  }

  /** `json` for the response to a write. It is not cached: a written object is seldom read before its next write. */
  get briefJson(): Buffer {
    return this.#json ?? this.#splice(pooledBuffer);
  }

  /** Drops the cached forms of a replaced object, which is seldom read; a reader creates them again. */
  release(): void {
    if (this.#known.form === "recent") this.#known.object = undefined;
    this.#known = NONE;
    this.#json = undefined;
    this.releasePlainJson();
  }

  /** The object's JSON without its resourceVersion. */
  protected plainJson(entry: Entry): Uint8Array {
    return entry.value;
  }

  protected releasePlainJson(): void {
    // The stored bytes are the JSON.
  }

  #plainBuffer(): Buffer {
    const value = this.plainJson(this.#entry);
    return Buffer.from(value.buffer, value.byteOffset, value.byteLength);
  }

  /** Throws its own error, because the parser's message would reveal content. */
  #parse(): ApiObject {
    const value = findJson(this.#plainBuffer());
    if (!isApiObject(value)) throw new Error(`${this.#entry.key} does not hold an object of the API`);
    return value;
  }

  #splice(allocate: (bytes: number) => Buffer): Buffer {
    const bytes = this.#plainBuffer();
    const at = this.#spliceAt ?? findKey(bytes, ["metadata", "uid"]);
    this.#releaseWritten();
    if (at === undefined) return exactBytes(stringifyJson(this.object));
    const field = `"resourceVersion":"${this.resourceVersion}",`;
    const json = allocate(bytes.length + field.length);
    bytes.copy(json, 0, 0, at);
    json.write(field, at, "latin1");
    bytes.copy(json, at + field.length, at);
    return json;
  }

  /** Releases the forms made by the write, except an object that fits into the cache. */
  #releaseWritten(): void {
    const known = this.#known;
    if (known.form === "written") this.#known = recent(known.object, this.plainJson(this.#entry).length);
    this.releasePlainJson();
  }
}

/** An object that is stored in another form than its JSON: encrypted, as protobuf or in another version. */
class ConvertedObject extends StoredObject {
  /** The JSON, until it is served. */
  #plainJson: Buffer | undefined;

  constructor(entry: Entry, origin: Origin, plainJson: Buffer) {
    super(entry, origin);
    this.#plainJson = plainJson;
  }

  protected override plainJson(entry: Entry): Uint8Array {
    return this.#plainJson ?? this.decoder?.decode(entry).bytes ?? entry.value;
  }

  protected override releasePlainJson(): void {
    this.#plainJson = undefined;
  }
}

/** Sources of an object's forms. */
interface Origin {
  readonly decoder: ValueDecoder | undefined;
  readonly written: Encoded | undefined;
  /** Undefined if the stored bytes are the encoded JSON. */
  readonly decoded: DecodedValue | undefined;
}

function originOf(entry: Entry): Origin {
  const { slot } = entry;
  if (!(slot instanceof UnreadValue))
    return { decoder: undefined, written: isEncoded(slot) ? slot : undefined, decoded: undefined };
  const { decoder, written } = slot;
  if (written === undefined) return { decoder, written, decoded: decoder.decode(entry) };
  return { decoder, written, decoded: { bytes: written.bytes, isStale: false } };
}

function recent(object: ApiObject, bytes: number): RecentObject | typeof NONE {
  return keepRecent(object, bytes) ?? NONE;
}

/** Not a slice: a cached slice would keep its whole shared buffer in memory. */
function ownBuffer(bytes: number): Buffer {
  return Buffer.allocUnsafeSlow(bytes);
}

/** A part of Node's pool: cheap, and gone as soon as the answer is sent. */
function pooledBuffer(bytes: number): Buffer {
  return Buffer.allocUnsafe(bytes);
}

/** Undefined for bytes that are not JSON. */
function findJson(bytes: Buffer): unknown {
  try {
    return readStoredJson(bytes);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

function isSameMemory(one: Uint8Array, other: Uint8Array): boolean {
  return (
    one.buffer === other.buffer && one.byteOffset === other.byteOffset && one.byteLength === other.byteLength
  );
}

function isApiObject(value: unknown): value is ApiObject {
  return isJsonObject(value) && isJsonObject(value["metadata"]);
}

/** The object by `peek`; undefined for a damaged value, or one encrypted with a missing key. */
export function findReadable(entry: Entry): ApiObject | undefined {
  try {
    return StoredObject.of(entry).peek();
  } catch {
    return undefined;
  }
}

/** The same for repeated reads: the object stays parsed. */
export function findKept(entry: Entry): ApiObject | undefined {
  try {
    return StoredObject.of(entry).object;
  } catch {
    return undefined;
  }
}

/** Text of the spec, found without parsing; undefined also for a short one. */
export function findSpecText(entry: Entry): Buffer | undefined {
  try {
    return StoredObject.of(entry).findSpecText();
  } catch {
    return undefined;
  }
}

export function withResourceVersion(object: ApiObject, resourceVersion: string): ApiObject {
  const { metadata } = object;
  // An object that replaces another keeps the place of its resourceVersion.
  if (metadata.resourceVersion !== undefined)
    return { ...object, metadata: { ...metadata, resourceVersion } };
  const ordered: Record<string, unknown> = {};
  let isPlaced = false;
  for (const key of Object.keys(metadata)) {
    if (!isPlaced && key >= "resourceVersion") {
      ordered["resourceVersion"] = resourceVersion;
      isPlaced = true;
    }
    if (key !== "resourceVersion") setOwn(ordered, key, (metadata as JsonObject)[key]);
  }
  if (!isPlaced) ordered["resourceVersion"] = resourceVersion;
  return { ...object, metadata: ordered as ApiObject["metadata"] };
}
