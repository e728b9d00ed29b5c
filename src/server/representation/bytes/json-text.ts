/** Cuts, edits and indents JSON text without parsing it. The server wrote the text, so it is well-formed and has no spaces. */
import { findKey } from "../../objects/json-offset.ts";
import { PIECE_BYTES } from "./pieces.ts";

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;

/** The text of a top-level member whose value is an object; undefined if missing. Shares the memory of `json`. */
export function findMember(json: Uint8Array, name: string): Uint8Array | undefined {
  const buffer = Buffer.from(json.buffer, json.byteOffset, json.byteLength);
  const key = findKey(buffer, [name]);
  if (key === undefined) return undefined;
  const start = key + Buffer.byteLength(name) + '"":'.length;
  return buffer[start] === OPEN_BRACE ? buffer.subarray(start, objectEnd(buffer, start)) : undefined;
}

export interface WrittenMember {
  readonly name: string;
  /** Text of the member with its trailing comma. */
  readonly text: Uint8Array;
}

/**
 * The parts of the text without these top-level members, which must be in order of appearance. Shares the memory of
 * `json`.
 */
export function* textWithout(json: Uint8Array, members: readonly WrittenMember[]): Generator<Uint8Array> {
  const buffer = Buffer.from(json.buffer, json.byteOffset, json.byteLength);
  let from = 0;
  for (const { name, text } of members) {
    const at = findKey(buffer, [name]);
    if (at === undefined || !buffer.subarray(at, at + text.byteLength).equals(text)) continue;
    yield buffer.subarray(from, at);
    from = at + text.byteLength;
  }
  yield buffer.subarray(from);
}

/** The same text with another resourceVersion. */
export function withJsonVersion(json: Uint8Array, resourceVersion: string): Uint8Array {
  const buffer = Buffer.from(json.buffer, json.byteOffset, json.byteLength);
  const key = findKey(buffer, ["metadata", "resourceVersion"]);
  if (key === undefined) return json;
  const start = key + '"resourceVersion":"'.length;
  const end = buffer.indexOf(QUOTE, start);
  return Buffer.concat([buffer.subarray(0, start), Buffer.from(resourceVersion), buffer.subarray(end)]);
}

/** Index after the brace that closes the one at `start`. */
function objectEnd(json: Buffer, start: number): number {
  let depth = 0;
  for (let at = start; at < json.length; at++) {
    const byte = json[at];
    if (byte === QUOTE) at = textEnd(json, at);
    else if (byte === OPEN_BRACE) depth += 1;
    else if (byte === CLOSE_BRACE && --depth === 0) return at + 1;
  }
  return json.length;
}

/** Index of the quote that closes the one at `start`. */
function textEnd(json: Buffer, start: number): number {
  for (let at = start + 1; at < json.length; at++) {
    if (json[at] === BACKSLASH) at += 1;
    else if (json[at] === QUOTE) return at;
  }
  return json.length;
}

/** Indents the text. Its parts may be cut at any byte. */
export function* prettyJson(parts: Iterable<Uint8Array>): Generator<Uint8Array> {
  const indenter = new Indenter();
  for (const part of parts) {
    for (let at = 0; at < part.byteLength; at += PIECE_BYTES)
      yield indenter.write(part.subarray(at, at + PIECE_BYTES));
  }
}

class Indenter {
  #depth = 0;
  #isInText = false;
  #isEscaped = false;
  /** Whether the last character opened a bracket. */
  #isOpened = false;

  /** Treats each byte as one character: only ASCII matters, other bytes pass through. */
  write(part: Uint8Array): Uint8Array {
    let out = "";
    for (const character of Buffer.from(part.buffer, part.byteOffset, part.byteLength).toString("latin1")) {
      out += this.#isInText ? this.#inText(character) : this.#outside(character);
    }
    return Buffer.from(out, "latin1");
  }

  #inText(character: string): string {
    if (this.#isEscaped) this.#isEscaped = false;
    else if (character === "\\") this.#isEscaped = true;
    else if (character === '"') this.#isInText = false;
    return character;
  }

  #outside(character: string): string {
    const wasOpened = this.#isOpened;
    this.#isOpened = character === "{" || character === "[";
    if (character === "}" || character === "]") {
      this.#depth -= 1;
      return wasOpened ? character : this.#line() + character;
    }
    const before = wasOpened ? this.#line() : "";
    if (this.#isOpened) this.#depth += 1;
    if (character === '"') this.#isInText = true;
    if (character === ",") return character + this.#line();
    return before + (character === ":" ? ": " : character);
  }

  #line(): string {
    return `\n${"  ".repeat(this.#depth)}`;
  }
}
