/**
 * Parses JSON from clients. One linear pass over the bytes bounds nesting and tokens before JSON.parse runs, so that
 * the cost of a body is bounded. The pass detects values that JSON.parse silently changes: integers beyond 2^53,
 * numbers beyond the doubles, duplicate keys. Only these texts are parsed again, by a slower exact reader.
 */

import { isAscii, isUtf8 } from "node:buffer";
import { TooLargeError } from "../work-budget.ts";
import { ExactJsonReader } from "./json-exact.ts";
import { isJsonObject, setOwn } from "./json-object.ts";

/** JSON.stringify and recursive functions overflow the stack near 3,000 levels; real objects have far fewer. */
export const JSON_DEPTH_MAX = 500;

/**
 * Tokens, not bytes, determine the cost of parsing: 3 MB of `[]` takes 222 ms and 213 MB of heap without this bound.
 */
export const JSON_TOKENS_MAX = 200_000;

export interface ParsedJson {
  /**
   * Ordinary objects as JSON.parse makes them, with `__proto__` as an own key. Integers beyond 2^53 that fit int64 are
   * bigint.
   */
  readonly value: unknown;
  /** Paths of duplicate keys, for example `spec.containers[0].name`; the last value wins. At most a hundred. */
  readonly duplicates: readonly string[];
}

/** Parses one member of the outermost object, for example from a cache of texts. */
export interface MemberReader {
  readonly name: string;
  /** Not called for every text: some must be parsed as a whole. Throws a SyntaxError for invalid JSON. */
  read(text: string): unknown;
}

/**
 * Throws a SyntaxError for invalid JSON or UTF-8, a RangeError for deep nesting, a TooLargeError for too many tokens.
 * The caller answers with 400, 400 and 413.
 */
export function parseJson(bytes: Uint8Array, member?: MemberReader): ParsedJson {
  // ASCII text has the same bytes in UTF-8.
  const isPlain = isAscii(bytes);
  if (!isPlain && !isUtf8(bytes)) throw new SyntaxError("invalid UTF-8 in JSON");
  const scan = new JsonScan(bytes, isPlain ? member?.name : undefined);
  scan.run();
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const text = buffer.toString(isPlain ? "latin1" : "utf8");
  // `includes` takes a tenth of the pattern's time, and is false for nearly all texts.
  if (text.includes("\\u") && SURROGATE_ESCAPE.test(text)) return withWholeCharacters(parsed(text, scan));
  return (member === undefined ? undefined : findParsedApart(text, scan, member)) ?? parsed(text, scan);
}

/** Throws like `parseJson`, but does not check the grammar. */
export function checkJsonBounds(bytes: Uint8Array): { readonly hasUnusualNumber: boolean } {
  if (!isUtf8(bytes)) throw new SyntaxError("invalid UTF-8 in JSON");
  const scan = new JsonScan(bytes, undefined);
  scan.run();
  return scan;
}

/** Escape of a surrogate, alone or in a pair. */
const SURROGATE_ESCAPE = /\\u[dD][89a-fA-F]/;
const LONE_HALF = /\p{Surrogate}/gu;

/** Replaces lone surrogates by U+FFFD, as Go does: UTF-8 cannot express them. */
function withWholeCharacters({ value, duplicates }: ParsedJson): ParsedJson {
  return { value: wholeValue(value), duplicates };
}

function wholeValue(value: unknown): unknown {
  if (typeof value === "string") return wholeText(value);
  if (Array.isArray(value)) return value.map(wholeValue);
  if (!isJsonObject(value)) return value;
  const whole: Record<string, unknown> = {};
  for (const [key, member] of Object.entries(value)) setOwn(whole, wholeText(key), wholeValue(member));
  return whole;
}

function wholeText(text: string): string {
  return text.replaceAll(LONE_HALF, "\u{fffd}");
}

/** Undefined if the text must be parsed as a whole: for exact values, or for the message of a syntax error. */
function findParsedApart(text: string, scan: JsonScan, member: MemberReader): ParsedJson | undefined {
  const { memberStart: start, memberEnd: end } = scan;
  const { name } = member;
  const key = `"${name}":`;
  const keyStart = start - key.length;
  const isThere = end > start && text.startsWith(key, keyStart) && text[keyStart - 1] !== "\\";
  if (!isThere || scan.hasUnusualNumber || scan.mayRepeatKey) return undefined;
  try {
    const value: unknown = JSON.parse(`${text.slice(0, start)}null${text.slice(end)}`);
    if (!isJsonObject(value)) return undefined;
    (value as Record<string, unknown>)[name] = member.read(text.slice(start, end));
    return { value, duplicates: [] };
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

function parsed(text: string, { hasUnusualNumber, mayRepeatKey }: JsonScan): ParsedJson {
  const value = valueOf(text);
  if (hasUnusualNumber) return new ExactJsonReader(text, "value").read();
  if (!mayRepeatKey) return { value, duplicates: [] };
  return { value, duplicates: new ExactJsonReader(text, "duplicates").read().duplicates };
}

/** V8 messages that quote the text around the error, which may be secret. */
const QUOTING = /^Unexpected token '(?<found>.*?)', .* is not valid JSON$/su;

function valueOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    const { found } = QUOTING.exec(error instanceof Error ? error.message : "")?.groups ?? {};
    if (found === undefined) throw error;
    // Go's message.
    throw new SyntaxError(`invalid character '${found}' looking for beginning of value`);
  }
}

const QUOTE = 1;
const OPEN = 2;
const CLOSE = 3;
const SEPARATOR = 4;
const NUMBER = 5;
const COLON = 0x3a;
const BACKSLASH = 0x5c;
const DOUBLE_QUOTE = 0x22;
const OPEN_BRACE = 0x7b;
const SLASH = 0x2f;
const LETTER_U = 0x75;

/** Meaning of each byte outside of strings; 0 for blanks and all other bytes. */
const CLASSES = classTable([
  ['"', QUOTE],
  ["{[", OPEN],
  ["}]", CLOSE],
  [",:", SEPARATOR],
  ["0123456789+-.eE", NUMBER],
]);

const HASH_BASIS = 0x811c9dc5;
const HASH_PRIME = 0x01000193;

/** A number with fewer characters is an integer below 2^53 or a plain decimal. */
const UNUSUAL_LENGTH = 16;
/** Cost of one number in the exact reader, in tokens. */
const UNUSUAL_TOKENS = 4;

/** The shortest member of an object: `"":0,`. */
const MEMBER_BYTES_MIN = 5;

/** Shared by all scans: scans are synchronous, and a scan writes each depth before it reads it. */
const NUMBERS = new Int32Array(JSON_DEPTH_MAX + 1);
/** Shared table for texts of usual length: clearing it costs less than allocating one for each text. */
const HASHES = new Int32Array(2 ** 12);

/** At least twice the maximum number of keys, so that a lookup always finds a free slot. */
function tableSize(length: number): number {
  const keysMax = Math.min(length / MEMBER_BYTES_MIN, JSON_TOKENS_MAX);
  return 2 ** Math.ceil(Math.log2(2 * keysMax + 8));
}

/**
 * Scans tokens and stays within its bounds on any text; JSON.parse checks the grammar. One table holds a hash for each
 * key and object. An equal hash, or a key with unusual escapes, only makes the exact reader check for duplicates.
 */
class JsonScan {
  hasUnusualNumber = false;
  mayRepeatKey = false;
  readonly #bytes: Uint8Array;
  #depth = 0;
  #tokens = 1;
  #objects = 0;
  /** Number of the object at each depth; 0 for an array. */
  readonly #numbers = NUMBERS;
  /** True if the next string is a key. */
  #atKey = false;
  #keyHash = 0;
  /** Open addressing; 0 is a free slot. This scan uses only the slots up to the mask. */
  readonly #hashes: Int32Array;
  readonly #mask: number;
  /** Hash of the name of the requested member. */
  readonly #memberHash: number | undefined;
  /**
   * Offsets of the value with its surrounding blanks, if a key has the member's hash. Both are negative if none has.
   */
  memberStart = -1;
  memberEnd = -1;

  constructor(bytes: Uint8Array, member: string | undefined) {
    this.#bytes = bytes;
    const size = tableSize(bytes.length);
    this.#mask = size - 1;
    this.#hashes = size > HASHES.length ? new Int32Array(size) : HASHES.fill(0, 0, size);
    this.#memberHash = member === undefined ? undefined : hashOf(member);
  }

  run(): void {
    const bytes = this.#bytes;
    const end = bytes.length;
    for (let at = 0; at < end; at++) {
      const byte = bytes[at] ?? 0;
      const kind = CLASSES[byte];
      if (kind === QUOTE) at = this.#atKey ? this.#endOfKey(at) : endOfString(bytes, at);
      else if (kind === SEPARATOR) this.#separate(byte, at);
      else if (kind === OPEN) this.#open(byte);
      else if (kind === CLOSE) this.#close(at);
      else if (kind === NUMBER) at = this.#endOfNumber(at);
    }
  }

  #count(tokens: number): void {
    this.#tokens += tokens;
    if (this.#tokens > JSON_TOKENS_MAX) throw new TooLargeError(`more than ${JSON_TOKENS_MAX} tokens`);
  }

  #open(byte: number): void {
    this.#count(1);
    if (++this.#depth > JSON_DEPTH_MAX) throw new RangeError(`nested deeper than ${JSON_DEPTH_MAX} levels`);
    this.#atKey = byte === OPEN_BRACE;
    this.#numbers[this.#depth] = this.#atKey ? ++this.#objects : 0;
  }

  #close(at: number): void {
    if (this.#depth === 1) this.#endMember(at);
    if (this.#depth > 0) this.#depth--;
    this.#atKey = false;
  }

  #endMember(at: number): void {
    if (this.memberEnd < 0 && this.memberStart >= 0) this.memberEnd = at;
  }

  #separate(byte: number, at: number): void {
    this.#count(1);
    if (this.#depth === 1) {
      if (byte !== COLON) this.#endMember(at);
      else if (this.#keyHash === this.#memberHash) this.memberStart = at + 1;
    }
    const object = this.#numbers[this.#depth] ?? 0;
    this.#atKey = byte !== COLON && object !== 0;
    if (byte === COLON && !this.mayRepeatKey) this.#remember(Math.imul(object, 0x9e3779b1) ^ this.#keyHash);
  }

  #remember(mixed: number): void {
    const hashes = this.#hashes;
    const mask = this.#mask;
    const hash = Math.imul(mixed ^ (mixed >>> 15), 0x85ebca6b) || 1;
    let place = hash & mask;
    while (hashes[place] !== 0 && hashes[place] !== hash) place = (place + 1) & mask;
    if (hashes[place] === hash) this.mayRepeatKey = true;
    hashes[place] = hash;
  }

  #endOfKey(start: number): number {
    const bytes = this.#bytes;
    const end = bytes.length;
    let hash = HASH_BASIS;
    for (let at = start + 1; at < end; at++) {
      const byte = bytes[at] ?? 0;
      if (byte === DOUBLE_QUOTE) {
        this.#keyHash = hash;
        return at;
      }
      if (byte === BACKSLASH) {
        // Two spellings of one key can differ only where one of them has `\u` or `\/`.
        const escaped = bytes[++at] ?? 0;
        if (escaped === LETTER_U || escaped === SLASH) this.mayRepeatKey = true;
      }
      hash = Math.imul(hash ^ (bytes[at] ?? 0), HASH_PRIME);
    }
    return end;
  }

  /** Offset of the number's last character. The `e` of `true` and `false` gets here too, without effect. */
  #endOfNumber(start: number): number {
    const bytes = this.#bytes;
    let at = start + 1;
    let hasExponent = false;
    for (; at < bytes.length && CLASSES[bytes[at] ?? 0] === NUMBER; at++) {
      // Upper and lower case E.
      hasExponent ||= ((bytes[at] ?? 0) | 0x20) === 0x65;
    }
    if (hasExponent || at - start >= UNUSUAL_LENGTH) {
      this.hasUnusualNumber = true;
      this.#count(UNUSUAL_TOKENS);
    }
    return at - 1;
  }
}

/** The scan's hash for a key in ASCII without escapes. */
function hashOf(key: string): number {
  let hash = HASH_BASIS;
  for (let at = 0; at < key.length; at++) hash = Math.imul(hash ^ key.charCodeAt(at), HASH_PRIME);
  return hash;
}

/** Offset of the closing quote, or the length of the bytes. */
function endOfString(bytes: Uint8Array, start: number): number {
  const end = bytes.length;
  for (let at = start + 1; at < end; at++) {
    const byte = bytes[at];
    if (byte === DOUBLE_QUOTE) return at;
    if (byte === BACKSLASH) at++;
  }
  return end;
}

function classTable(entries: readonly (readonly [string, number])[]): Uint8Array {
  const table = new Uint8Array(256);
  for (const [characters, kind] of entries) {
    for (const character of characters) table[character.charCodeAt(0)] = kind;
  }
  return table;
}
