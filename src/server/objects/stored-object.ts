/**
 * The forms of one stored object, made when first asked for and kept in the entry's slot, so that live state, history and
 * watch events share them. Stored bytes carry no resourceVersion: it is the entry's mod revision, and is put in where the
 * encoder noted its place.
 */
import { entriesText } from "../../api/apply/managed-entry.ts";
import { frozenMemo } from "../../api/json/frozen-memo.ts";
import { isJsonObject, setOwn } from "../../api/json/json-object.ts";
import type { JsonObject } from "../../api/json/json-object.ts";
import { stringifyAsGo, stringifyJson } from "../../api/json/json-text.ts";
import type { ApiObject } from "../../resources/rules/kind-rules.ts";
import type { Entry, Slot } from "../../store/store.ts";
import { briefBuffer } from "./caches/buffer-pool.ts";
import { keepObject } from "./caches/recent-objects.ts";
import type { Kept } from "./caches/recent-objects.ts";
import { findSpec, keepSpec } from "./caches/stored-specs.ts";
import { findKey } from "./json-offset.ts";
import { readStoredJson } from "./stored/stored-json.ts";

/** An object as it is stored. */
export interface Encoded {
  readonly object: ApiObject;
  readonly bytes: Buffer;
  /** Place of `"resourceVersion":"…",`: before the key that follows it in order. Undefined where none follows. */
  readonly spliceAt: number | undefined;
  /** The same as `bytes` for the answer to whoever wrote it, where each of its characters is one byte. */
  readonly text?: string | undefined;
}

/** Reads values of any origin. Throws an ApiError for one that cannot be read. */
export interface Opener {
  open(entry: Entry): OpenedValue;
}

export interface OpenedValue {
  /** JSON in the storage version; the stored bytes themselves where they are that already. */
  readonly bytes: Buffer;
  readonly isStale: boolean;
  /** The same, where it was parsed on the way. */
  readonly object?: ApiObject | undefined;
}

/** In the slot of an entry that was not looked at yet: says how its value is read. */
export class Unopened {
  readonly opener: Opener;
  /** The plain form, where it was written in this process. */
  readonly made: Encoded | undefined;

  constructor(opener: Opener, made: Encoded | undefined) {
    this.opener = opener;
    this.made = made;
  }
}

/** Where the forms of an object come from. */
interface Origin {
  readonly opener: Opener | undefined;
  readonly made: Encoded | undefined;
  /** The JSON where it was read or sealed; undefined where the stored bytes are the JSON of what was made. */
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
  /** Undefined for an entry of a store that was not told how values are read. */
  readonly opener: Opener | undefined;
  /** Whether the value would be stored differently today. */
  readonly isStale: boolean;
  /** Whether the stored bytes are the JSON of the object. */
  readonly #isPlain: boolean;
  /** What was written in this process, until it is known with its resourceVersion. */
  #bare: ApiObject | undefined;
  /** The same after its JSON was made, while there is room for it. */
  #kept: Kept | undefined;
  readonly #spliceAt: number | undefined;
  /** What was written in this process, until its writer has the answer. */
  #text: string | undefined;
  /** The JSON of a value that is stored in another form, until it is served. */
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

  /** The one for this entry: the same for everybody who asks. Throws an ApiError for a value that cannot be read. */
  static of(entry: Entry): StoredObject {
    if (entry.slot instanceof StoredObject) return entry.slot;
    const stored = new StoredObject(entry, originOf(entry));
    entry.slot = stored;
    return stored;
  }

  /** Whether writing this would change nothing in the store. */
  isWrittenAs(encoded: Encoded): boolean {
    return !this.isStale && encoded.bytes.equals(this.#plain());
  }

  get resourceVersion(): string {
    return String(this.#entry.modRevision);
  }

  /** In the storage version, with its resourceVersion. Shared: never changed. */
  get object(): ApiObject {
    if (this.#object !== undefined) return this.#object;
    const object = withResourceVersion(this.#findMade() ?? this.#parse(), this.resourceVersion);
    this.#object = object;
    this.#bare = undefined;
    this.#text = undefined;
    return object;
  }

  /** For a look at everything: what is parsed for it is not kept, and may lack the resourceVersion. */
  glimpse(): ApiObject {
    return this.#object ?? this.#findMade() ?? this.#parse();
  }

  /** What `findSpecText` says, for a value that can be opened. */
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
   * The same for whoever hands it on and keeps nothing of it, as bytes or as text of which each character is one. What was written is seldom
   * asked for again before it is written anew.
   */
  get briefJson(): Buffer | string {
    if (this.#json !== undefined) return this.#json;
    const [text, at] = [this.#text, this.#spliceAt];
    if (text === undefined || at === undefined) return this.#splice(briefBuffer);
    this.#letGo();
    return text.slice(0, at) + this.#versionMember + text.slice(at);
  }

  /** Few look at what has been replaced: it is made again for them. */
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

  /** The parser's own message would show some of the content. */
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

  /** Of what was made by writing it, only what there is room for. */
  #letGo(): void {
    if (this.#bare !== undefined) this.#kept = keepObject(this.#bare, this.#plain().length);
    this.#bare = undefined;
    this.#text = undefined;
    this.#opened = undefined;
  }
}

/** Not a part of another one: what is kept for long would keep in memory what happened to be made beside it. */
function ownBuffer(bytes: number): Buffer {
  return Buffer.allocUnsafeSlow(bytes);
}

function exactBuffer(text: string): Buffer {
  const buffer = ownBuffer(Buffer.byteLength(text));
  buffer.write(text);
  return buffer;
}

/** Longer ones cost more as text than as bytes. */
const ANSWER_TEXT_MAX = 16 * 1024;

/** Undefined for what is not JSON. */
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

/** A glimpse of it; undefined for what is damaged, or sealed with a key that is not there. */
export function findReadable(entry: Entry): ApiObject | undefined {
  try {
    return StoredObject.of(entry).glimpse();
  } catch {
    return undefined;
  }
}

/** The same for who looks again and again: it stays parsed. */
export function findKept(entry: Entry): ApiObject | undefined {
  try {
    return StoredObject.of(entry).object;
  } catch {
    return undefined;
  }
}

/** The text of its spec, found without reading it; undefined of a short one too. */
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

/** The same for whoever will answer with it. */
export function encodeForAnswer(object: ApiObject): Encoded {
  return encode(object, ANSWER_TEXT_MAX);
}

/** Its members one by one, so that the place of the resourceVersion is known without searching the text. */
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

/** Of a spec that many objects share, from now on also with those that are read from the store. */
const frozenSpecText = frozenMemo((spec: JsonObject): string => {
  const text = stringifyJson(spec);
  keepSpec(text, spec);
  return text;
});

/** Of a spec. What it shares with others, as a whole or member by member, is frozen and was written before. */
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
 * The text before the place of the resourceVersion, which is left out, and the text from there on. The second is undefined where no member
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
  // What replaces another object has that one's, in its place.
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
