/**
 * The forms of one stored object: decoded, encoded, served. Each is made on first use and kept in the entry's slot,
 * so live state, history and watch events share them. Stored bytes contain no resourceVersion: it is the entry's mod
 * revision, and is inserted at the offset that the encoder noted.
 */
import { entriesText } from "../../api/apply/managed-entry.ts";
import { frozenMemo } from "../../api/json/frozen-memo.ts";
import { isJsonObject, setOwn } from "../../api/json/json-object.ts";
import type { JsonObject } from "../../api/json/json-object.ts";
import { stringifyAsGo, stringifyJson } from "../../api/json/json-text.ts";
import type { ApiObject } from "../../resources/rules/kind-rules.ts";
import type { Entry, Slot } from "../../store/store.ts";
import { keepObject } from "./caches/recent-objects.ts";
import type { Kept } from "./caches/recent-objects.ts";
import { findSpec, keepSpec } from "./caches/stored-specs.ts";
import { findKey } from "./json-offset.ts";
import { readStoredJson } from "./stored/stored-json.ts";

/** An object in its stored form. */
export interface Encoded {
  readonly object: ApiObject;
  readonly bytes: Buffer;
  /** Offset for `"resourceVersion":"…",`: before the next key in order. Undefined without one. */
  readonly spliceAt: number | undefined;
  /** The text of `bytes` for the response to the writer. Set only if each character is one byte. */
  readonly text?: string | undefined;
}

/** Reads values in any stored form. Throws an ApiError for an unreadable one. */
export interface Opener {
  open(entry: Entry): OpenedValue;
}

export interface OpenedValue {
  /** JSON in the storage version; the stored bytes themselves if they are that. */
  readonly bytes: Buffer;
  readonly isStale: boolean;
  /** The decoded object, if opening parsed it. */
  readonly object?: ApiObject | undefined;
}

/** Slot of an entry that was not read yet: knows how to read the value. */
export class Unopened {
  readonly opener: Opener;
  /** Plain form of a value written by this process. */
  readonly made: Encoded | undefined;

  constructor(opener: Opener, made: Encoded | undefined) {
    this.opener = opener;
    this.made = made;
  }
}

/** Sources of an object's forms. */
interface Origin {
  readonly opener: Opener | undefined;
  readonly made: Encoded | undefined;
  /** Set if the value was decoded or sealed; undefined if the stored bytes are the encoded JSON. */
  readonly opened: OpenedValue | undefined;
}

function originOf(entry: Entry): Origin {
  const { slot } = entry;
  if (!(slot instanceof Unopened))
    return { opener: undefined, made: isEncoded(slot) ? slot : undefined, opened: undefined };
  const { opener, made } = slot;
  if (made === undefined) return { opener, made, opened: opener.open(entry) };
  return { opener, made, opened: { bytes: made.bytes, isStale: false } };
}

export class StoredObject implements Slot {
  readonly #entry: Entry;
  /** Undefined for an entry of a store without openers. */
  readonly opener: Opener | undefined;
  /** True if a write today would store the value differently. */
  readonly isStale: boolean;
  /** True if the stored bytes are the object's JSON. */
  readonly #isPlain: boolean;
  /** Object written by this process, until `object` adds its resourceVersion. */
  #bare: ApiObject | undefined;
  /** The written object after its JSON was made, while the cache keeps it. */
  #kept: Kept | undefined;
  readonly #spliceAt: number | undefined;
  /** Text written by this process, until the response to the writer takes it. */
  #text: string | undefined;
  /** Decoded JSON of a value in another stored form, until it is served. */
  #opened: Buffer | undefined;
  #object: ApiObject | undefined;
  #json: Buffer | undefined;

  private constructor(entry: Entry, { opener, made, opened }: Origin) {
    this.#entry = entry;
    this.opener = opener;
    this.#bare = made?.object;
    this.#spliceAt = made?.spliceAt;
    this.#text = made?.text;
    this.isStale = opened?.isStale ?? false;
    this.#opened = opened === undefined || isSameMemory(opened.bytes, entry.value) ? undefined : opened.bytes;
    this.#isPlain = this.#opened === undefined;
    if (opened?.object !== undefined) this.#kept = keepObject(opened.object, opened.bytes.length);
  }

  /** The entry's only instance, shared by all callers. Throws an ApiError for an unreadable value. */
  static of(entry: Entry): StoredObject {
    if (entry.slot instanceof StoredObject) return entry.slot;
    const stored = new StoredObject(entry, originOf(entry));
    entry.slot = stored;
    return stored;
  }

  /** True if writing this would be a no-op. */
  isWrittenAs(encoded: Encoded): boolean {
    return !this.isStale && encoded.bytes.equals(this.#plain());
  }

  get resourceVersion(): string {
    return String(this.#entry.modRevision);
  }

  /** Decoded object in the storage version, with its resourceVersion. Shared: callers never change it. */
  get object(): ApiObject {
    if (this.#object !== undefined) return this.#object;
    const object = withResourceVersion(this.#findMade() ?? this.#parse(), this.resourceVersion);
    this.#object = object;
    this.#bare = undefined;
    this.#text = undefined;
    return object;
  }

  /** For scans over many objects: parses without caching. The result may lack the resourceVersion. */
  glimpse(): ApiObject {
    return this.#object ?? this.#findMade() ?? this.#parse();
  }

  /** Same as the function `findSpecText`, for a readable value. */
  findSpecText(): Buffer | undefined {
    const value = this.#plain();
    const span = findSpec(Buffer.from(value.buffer, value.byteOffset, value.byteLength));
    return span?.bytes.subarray(span.start, span.end);
  }

  /** `object` as served JSON. */
  get json(): Buffer {
    return (this.#json ??= this.#splice(ownBuffer));
  }

  /**
   * `json` for a caller that sends it and does not keep it: bytes, or text with one byte per character. A written
   * object is seldom read before its next write, so the result is not cached.
   */
  get briefJson(): Buffer | string {
    if (this.#json !== undefined) return this.#json;
    const [text, at] = [this.#text, this.#spliceAt];
    if (text === undefined || at === undefined) return this.#splice(pooledBuffer);
    this.#letGo();
    return text.slice(0, at) + this.#versionMember + text.slice(at);
  }

  /** Drops the cached forms of a replaced object, which is seldom read; a reader creates them again. */
  fold(): void {
    if (this.#kept !== undefined) this.#kept.object = undefined;
    this.#kept = undefined;
    this.#bare = undefined;
    this.#text = undefined;
    this.#opened = undefined;
    this.#object = undefined;
    this.#json = undefined;
  }

  #findMade(): ApiObject | undefined {
    return this.#bare ?? this.#kept?.object;
  }

  #plain(): Uint8Array {
    if (this.#isPlain || this.opener === undefined) return this.#entry.value;
    return this.#opened ?? this.opener.open(this.#entry).bytes;
  }

  /** Throws its own error, because the parser's message would reveal content. */
  #parse(): ApiObject {
    const value = findJson(this.#plain());
    if (!isApiObject(value)) throw new Error(`${this.#entry.key} does not hold an object of the API`);
    return value;
  }

  #splice(allocate: (bytes: number) => Buffer): Buffer {
    const value = this.#plain();
    const bytes = Buffer.from(value.buffer, value.byteOffset, value.byteLength);
    const at = this.#spliceAt ?? findKey(bytes, ["metadata", "uid"]);
    this.#letGo();
    if (at === undefined) return exactBuffer(stringifyJson(this.object));
    const field = this.#versionMember;
    const json = allocate(bytes.length + field.length);
    bytes.copy(json, 0, 0, at);
    json.write(field, at, "latin1");
    bytes.copy(json, at + field.length, at);
    return json;
  }

  get #versionMember(): string {
    return `"resourceVersion":"${this.resourceVersion}",`;
  }

  /** Releases the forms made by the write, except an object that fits into the cache. */
  #letGo(): void {
    if (this.#bare !== undefined) this.#kept = keepObject(this.#bare, this.#plain().length);
    this.#bare = undefined;
    this.#text = undefined;
    this.#opened = undefined;
  }
}

/** Not a slice: a cached slice would keep its whole shared buffer in memory. */
function ownBuffer(bytes: number): Buffer {
  return Buffer.allocUnsafeSlow(bytes);
}

/** A part of Node's pool: cheap, and gone as soon as the answer is sent. */
function pooledBuffer(bytes: number): Buffer {
  return Buffer.allocUnsafe(bytes);
}

function exactBuffer(text: string): Buffer {
  const buffer = ownBuffer(Buffer.byteLength(text));
  buffer.write(text);
  return buffer;
}

/** Longer texts cost more as text than as bytes. */
const ANSWER_TEXT_MAX = 16 * 1024;

/** Undefined for bytes that are not JSON. */
function findJson(bytes: Uint8Array): unknown {
  try {
    return readStoredJson(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength));
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

export function isEncoded(slot: unknown): slot is Encoded {
  return isJsonObject(slot) && Buffer.isBuffer(slot["bytes"]);
}

function isApiObject(value: unknown): value is ApiObject {
  return isJsonObject(value) && isJsonObject(value["metadata"]);
}

/** The object by `glimpse`; undefined for a damaged value, or one sealed with a missing key. */
export function findReadable(entry: Entry): ApiObject | undefined {
  try {
    return StoredObject.of(entry).glimpse();
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

export function encodeObject(object: ApiObject): Encoded {
  return encode(object, 0);
}

/** Also keeps the text, for the response to the writer. */
export function encodeForAnswer(object: ApiObject): Encoded {
  return encode(object, ANSWER_TEXT_MAX);
}

/** Encodes member by member, so that the offset of the resourceVersion is known without a search. */
function encode(object: ApiObject, textMax: number): Encoded {
  let text = "{";
  let spliceAt: number | undefined;
  for (const key of Object.keys(object)) {
    const value = (object as unknown as JsonObject)[key];
    text += `${text === "{" ? "" : ","}${stringifyJson(key)}:`;
    if (key !== "metadata") {
      text += memberText(object, key, value);
      continue;
    }
    const [before, after] = metadataTexts(value as JsonObject);
    text += before;
    spliceAt = after === undefined ? undefined : text.length;
    text += after ?? "";
  }
  text += "}";
  const bytes = exactBuffer(text);
  if (bytes.length !== text.length) {
    if (spliceAt !== undefined) spliceAt = Buffer.byteLength(text.slice(0, spliceAt));
    return { object, bytes, spliceAt, text: undefined };
  }
  return { object, bytes, spliceAt, text: text.length <= textMax ? text : undefined };
}

function memberText(object: ApiObject, key: string, value: unknown): string {
  if (key === "spec") return sharedText(value);
  return key === "data" && object.kind === "ControllerRevision" ? stringifyAsGo(value) : stringifyJson(value);
}

const frozenText = frozenMemo((value: object): string => stringifyJson(value));

/** Text of a shared spec. The spec is registered, so that objects read from the store share it too. */
const frozenSpecText = frozenMemo((spec: JsonObject): string => {
  const text = stringifyJson(spec);
  keepSpec(text, spec);
  return text;
});

/** Text of a spec. Its frozen parts are shared with other objects, and their text is cached. */
function sharedText(value: unknown): string {
  if (!isJsonObject(value)) return stringifyJson(value);
  if (Object.isFrozen(value)) return frozenSpecText(value);
  const keys = Object.keys(value);
  if (!keys.some((key) => isFrozenPart(value[key]))) return stringifyJson(value);
  let text = "";
  for (const key of keys) {
    const member = value[key];
    if (member === undefined) continue;
    const memberText = isFrozenPart(member) ? frozenText(member) : stringifyJson(member);
    text += `${text === "" ? "{" : ","}${stringifyJson(key)}:${memberText}`;
  }
  return `${text}}`;
}

function isFrozenPart(value: unknown): value is object {
  return typeof value === "object" && value !== null && Object.isFrozen(value);
}

/**
 * The text before the place of the resourceVersion, and the text after it. The second is undefined if no member
 * follows: a value of foreign origin may lack the uid.
 */
function metadataTexts(metadata: JsonObject): readonly [string, string | undefined] {
  const before: string[] = [];
  const after: string[] = [];
  for (const key of Object.keys(metadata)) {
    if (key === "resourceVersion") continue;
    const value = metadata[key];
    const member = `"${key}":${key === "managedFields" ? entriesText(value) : stringifyJson(value)}`;
    (key < "resourceVersion" ? before : after).push(member);
  }
  if (after.length === 0) return [`{${before.join(",")}}`, undefined];
  return [before.length === 0 ? "{" : `{${before.join(",")},`, `${after.join(",")}}`];
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
    if (key !== "resourceVersion") setOwn(ordered, key, (metadata as unknown as JsonObject)[key]);
  }
  if (!isPlaced) ordered["resourceVersion"] = resourceVersion;
  return { ...object, metadata: ordered as unknown as ApiObject["metadata"] };
}
