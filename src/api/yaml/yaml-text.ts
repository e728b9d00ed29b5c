/**
 * Writes YAML as kubectl prints it: block style, sorted keys, lists not indented below their key, quotes only where a
 * parser would misread the plain text. Takes linear time, because responses can be large.
 */

import { indexOfTrailing } from "../../base/text-end.ts";
import { isAmbiguousYaml } from "./yaml-scalar.ts";

/** Characters with a meaning at the beginning of a plain scalar. */
const INDICATOR_FIRST = /^[#,[\]{}&*!|>'"%@`]|^[-?:](?:\s|$)|^---|^\.\.\./;
/** Characters that end a plain scalar in its middle, and blanks at its ends. */
const INDICATOR_INSIDE = /: |:$| #|^\s|\s$/;
/** Characters that need escapes: control characters, Unicode line breaks, the byte order mark, lone surrogates. */
const UNPRINTABLE = /[^\t\n\x20-\x7e\u00a0-\u2027\u202a-\ufefe\uff00-\ufffd\u{10000}-\u{10ffff}\u0085]/u;

/** The document, with a line break at its end. */
export function stringifyYaml(value: unknown): string {
  return [...yamlPieces(value)].join("");
}

/** Number of lines in a piece. The generator builds each piece on demand. */
const PIECE_LINES = 1000;

export function* yamlPieces(value: unknown): Generator<string> {
  const lines = new Lines();
  if (isCollection(value)) yield* writeCollection(value, "", lines);
  else lines.add("", scalarText(value, { indent: "", column: 0 }));
  yield lines.take();
}

/** Lines that the generator has not yielded yet. */
class Lines {
  #lines: string[] = [];
  /** Dashes of the list items that begin on the next line. */
  #dashes = "";

  get isPiece(): boolean {
    return this.#lines.length >= PIECE_LINES;
  }

  /** The first line of an item follows its dash on the same line. */
  beginItem(indent: string): void {
    if (this.#dashes === "") this.#dashes = indent;
    this.#dashes += "- ";
  }

  /** Adds a line with the dash alone for an item whose members are all undefined. */
  endItem(): void {
    if (this.#dashes !== "") this.add("", "");
  }

  add(indent: string, text: string): void {
    this.#lines.push((this.#dashes === "" ? indent : this.#dashes) + text);
    this.#dashes = "";
  }

  take(): string {
    const text = `${this.#lines.join("\n")}\n`;
    this.#lines = [];
    return text;
  }
}

type Collection = readonly unknown[] | Readonly<Record<string, unknown>>;

/** True for a non-empty collection. An empty one is written on the line of its key. */
function isCollection(value: unknown): value is Collection {
  if (typeof value !== "object" || value === null) return false;
  return Array.isArray(value) ? value.length > 0 : Object.keys(value).length > 0;
}

function* writeCollection(value: Collection, indent: string, lines: Lines): Generator<string> {
  if (Array.isArray(value)) {
    for (const item of value) {
      if (lines.isPiece) yield lines.take();
      lines.beginItem(indent);
      if (isCollection(item)) yield* writeCollection(item, `${indent}  `, lines);
      else lines.add(indent, scalarText(item, { indent, column: indent.length + 2 }));
      lines.endItem();
    }
    return;
  }
  for (const [key, member] of Object.entries(value).sort(([a], [b]) => compareKeys(a, b))) {
    if (member === undefined) continue;
    if (lines.isPiece) yield lines.take();
    const name = `${keyText(key)}:`;
    if (!isCollection(member)) {
      const column = indent.length + name.length + 1;
      lines.add(indent, `${name} ${scalarText(member, { indent, column })}`);
      continue;
    }
    lines.add(indent, name);
    yield* writeCollection(member, Array.isArray(member) ? indent : `${indent}  `, lines);
  }
}

const DIGITS = /[0-9]+/y;
const LETTER = /\p{L}/uy;

/** kubectl's order of keys: letters follow all other characters, and numbers inside names compare as numbers. */
function compareKeys(left: string, right: string): number {
  const at = firstDifference(left, right);
  if (at >= left.length || at >= right.length) return left.length - right.length;
  const [x, y] = [digitsAt(left, at), digitsAt(right, at)];
  if (x !== "" && y !== "") return x.length - y.length || (x < y ? -1 : 1);
  const letters = Number(isAt(LETTER, left, at)) - Number(isAt(LETTER, right, at));
  return letters === 0 ? (left.slice(at) < right.slice(at) ? -1 : 1) : letters;
}

/**
 * Offset of the first differing number or character. Allocates nothing, because keys may be long and have long common
 * prefixes.
 */
function firstDifference(left: string, right: string): number {
  const end = Math.min(left.length, right.length);
  let at = 0;
  while (at < end && left.charCodeAt(at) === right.charCodeAt(at)) at++;
  if (isDigit(left, at) || isDigit(right, at)) while (at > 0 && isDigit(left, at - 1)) at--;
  const isWithinCharacter = at > 0 && (left.charCodeAt(at - 1) & 0xfc00) === 0xd800;
  return isWithinCharacter ? at - 1 : at;
}

function isDigit(text: string, at: number): boolean {
  const code = text.charCodeAt(at);
  return code >= 0x30 && code <= 0x39;
}

function digitsAt(text: string, at: number): string {
  DIGITS.lastIndex = at;
  return DIGITS.exec(text)?.[0] ?? "";
}

function isAt(pattern: RegExp, text: string, at: number): boolean {
  pattern.lastIndex = at;
  return pattern.test(text);
}

function keyText(key: string): string {
  return key.includes("\n") ? doubleQuoted(key) : stringText(key);
}

/** Indentation of the parent, and the column at which the scalar begins. */
interface ScalarPlace {
  readonly indent: string;
  readonly column: number;
}

function scalarText(value: unknown, place: ScalarPlace): string {
  if (typeof value === "string") {
    if (value.includes("\n")) return blockText(value, place);
    const text = stringText(value);
    return place.column + text.length > LINE_WIDTH ? folded(text, place) : text;
  }
  if (typeof value === "bigint") return value.toString();
  return JSON.stringify(value) ?? "null";
}

function stringText(text: string): string {
  if (isAmbiguousYaml(text) || UNPRINTABLE.test(text)) return doubleQuoted(text);
  if (!INDICATOR_FIRST.test(text) && !INDICATOR_INSIDE.test(text)) return text;
  return `'${text.replaceAll("'", "''")}'`;
}

/** Lines break at the first single space after this column. */
const LINE_WIDTH = 80;

/** Breaks a long scalar as Go's writer does. A parser reads each break as one space. */
function folded(text: string, { indent, column }: ScalarPlace): string {
  const isDouble = text.startsWith('"');
  const isQuoted = isDouble || text.startsWith("'");
  const characters = Array.from(text);
  const last = characters.length - 1;
  let [line, at, result] = ["", column, ""];
  for (const [index, character] of characters.entries()) {
    const isEdge = isQuoted && (index === 1 || index === last - 1);
    const isSingle = characters[index - 1] !== " " && (isDouble || characters[index + 1] !== " ");
    if (character === " " && at > LINE_WIDTH && isSingle && !isEdge) {
      result += `${line}\n${indent}  `;
      // A backslash keeps a space that follows the break.
      line = characters[index + 1] === " " ? "\\" : "";
      at = indent.length + 2 + line.length;
    } else {
      line += character;
      at++;
    }
  }
  return result + line;
}

/** A literal block if it preserves every character. The indicator encodes the number of trailing line breaks. */
function blockText(text: string, place: ScalarPlace): string {
  const { indent } = place;
  if (UNPRINTABLE.test(text) || /^[\s]|[ \t](\n|$)/.test(text)) return folded(doubleQuoted(text), place);
  const body = text.slice(0, indexOfTrailing(text, "\n"));
  const breaks = text.length - body.length;
  const lines = body.split("\n").map((line) => (line === "" ? "" : `${indent}  ${line}`));
  const more = Array<string>(Math.max(breaks - 1, 0)).fill("");
  return [breaks === 0 ? "|-" : breaks === 1 ? "|" : "|+", ...lines, ...more].join("\n");
}

/** YAML accepts JSON's escapes. */
function doubleQuoted(text: string): string {
  return JSON.stringify(text).replace(
    /[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}
