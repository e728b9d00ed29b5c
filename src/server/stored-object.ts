/**
 * The forms of one stored object, made when first asked for and kept in the entry's slot, so that live state, history and
 * watch events share them. Stored bytes carry no resourceVersion: it is the entry's mod revision, and is put in where the
 * encoder noted its place.
 */
import { isJsonObject, setOwn } from "../api/json-object.ts";
import type { JsonObject } from "../api/json-object.ts";
import { parseJson } from "../api/json-scan.ts";
import { stringifyJson } from "../api/json-text.ts";
import type { ApiObject } from "../resources/kind-rules.ts";
import type { Entry } from "../store/store.ts";
import { findKey } from "./json-offset.ts";

/** An object as it is stored. */
export interface Encoded {
  readonly object: ApiObject;
  readonly bytes: Buffer;
  /** Where `"resourceVersion":"…",` belongs: before the key that follows it in order. */
  readonly spliceAt: number;
}

export class StoredObject {
  readonly #entry: Entry;
  #made: Encoded | undefined;
  #object: ApiObject | undefined;
  #json: Buffer | undefined;

  private constructor(entry: Entry, made: Encoded | undefined) {
    this.#entry = entry;
    this.#made = made;
  }

  /** The one for this entry: the same for everybody who asks. */
  static of(entry: Entry): StoredObject {
    if (entry.slot instanceof StoredObject) return entry.slot;
    const stored = new StoredObject(entry, isEncoded(entry.slot) ? entry.slot : undefined);
    entry.slot = stored;
    return stored;
  }

  get resourceVersion(): string {
    return String(this.#entry.modRevision);
  }

  /** In the storage version, with its resourceVersion. Shared: never changed. */
  get object(): ApiObject {
    return (this.#object ??= withResourceVersion(this.#made?.object ?? this.#parse(), this.resourceVersion));
  }

  /** `object` as served JSON. */
  get json(): Buffer {
    return (this.#json ??= this.#splice());
  }

  #parse(): ApiObject {
    const value = parseStored(this.#entry.value);
    if (!isApiObject(value)) throw new Error(`${this.#entry.key} does not hold an object of the API`);
    return value;
  }

  #splice(): Buffer {
    const { value } = this.#entry;
    const bytes = Buffer.from(value.buffer, value.byteOffset, value.byteLength);
    const at = this.#made?.spliceAt ?? findKey(bytes, ["metadata", "uid"]);
    this.#made = undefined;
    if (at === undefined) return Buffer.from(stringifyJson(this.object));
    const field = `"resourceVersion":"${this.resourceVersion}",`;
    return Buffer.concat([bytes.subarray(0, at), Buffer.from(field, "latin1"), bytes.subarray(at)]);
  }
}

/** Where an integer beyond 2^53 may be. */
const LONG_NUMBER = /\d{16}/;

/** What was stored was checked before: only long integers need the exact and slower way. */
function parseStored(bytes: Uint8Array): unknown {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString();
  return LONG_NUMBER.test(text) ? parseJson(bytes).value : JSON.parse(text);
}

function isEncoded(slot: unknown): slot is Encoded {
  return isJsonObject(slot) && Buffer.isBuffer(slot["bytes"]);
}

function isApiObject(value: unknown): value is ApiObject {
  return isJsonObject(value) && isJsonObject(value["metadata"]);
}

/** Everything up to the resourceVersion, then the rest: in one pass over the object, without searching the text. */
export function encodeObject(object: ApiObject): Encoded {
  let text = "";
  let spliceAt = 0;
  for (const [key, value] of Object.entries(object)) {
    text += `${text === "" ? "{" : ","}${stringifyJson(key)}:`;
    if (key !== "metadata") {
      text += stringifyJson(value);
      continue;
    }
    const [before, after] = splitMetadata(value as JsonObject);
    const head = stringifyJson(before).slice(0, -1);
    text += head.length > 1 ? `${head},` : head;
    spliceAt = text.length;
    text += stringifyJson(after).slice(1);
  }
  text += "}";
  const bytes = Buffer.from(text);
  const isAscii = bytes.length === text.length;
  return { object, bytes, spliceAt: isAscii ? spliceAt : Buffer.byteLength(text.slice(0, spliceAt)) };
}

/** A stored object has a uid, so the second part is never empty. */
function splitMetadata(metadata: JsonObject): readonly [JsonObject, JsonObject] {
  const before: Record<string, unknown> = {};
  const after: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(metadata)) {
    if (key !== "resourceVersion") setOwn(key < "resourceVersion" ? before : after, key, value);
  }
  return [before, after];
}

export function withResourceVersion(object: ApiObject, resourceVersion: string): ApiObject {
  const [before, after] = splitMetadata(object.metadata as unknown as JsonObject);
  return {
    ...object,
    metadata: { ...before, resourceVersion, ...after } as unknown as ApiObject["metadata"],
  };
}
