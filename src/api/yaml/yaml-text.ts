/**
 * YAML as kubectl prints it: block style, keys sorted, lists not indented below their key, quotes only where the plain
 * text would be read as something else. Written here because responses can be large and this is linear and fast.
 */

import { indexOfTrailing } from "../../base/text-end.ts";
import { isAmbiguousYaml } from "./yaml-scalar.ts";

/** Characters that mean something at the beginning of a plain scalar. */
const INDICATOR_FIRST = /^[#,[\]{}&*!|>'"%@`]|^[-?:](?:\s|$)|^---|^\.\.\./;
/** What ends a plain scalar in its middle or cannot be seen at its ends. */
const INDICATOR_INSIDE = /: |:$| #|^\s|\s$/;
/** Needs escapes: control characters, the line breaks of Unicode, the byte order mark, lone surrogates. */
const UNPRINTABLE = /[^\t\n\x20-\x7e\u00a0-\u2027\u202a-\ufefe\uff00-\ufffd\u{10000}-\u{10ffff}\u0085]/u;

/** The document, with a line break at its end. */
export function stringifyYaml(value: unknown): string {
  return [...yamlPieces(value)].join("");
}

/** The same in pieces of this many lines, of which each is made when it is asked for. */
const PIECE_LINES = 1000;

export function* yamlPieces(value: unknown): Generator<string> {
  const lines = new Lines();
  if (isCollection(value)) yield* writeCollection(value, "", lines);
  else lines.add("", scalarText(value, ""));
  yield lines.take();
}

/** Lines that are not handed out yet. */
class Lines {
  #lines: string[] = [];
  /** Dashes of items that begin with the next line. */
  #dashes = "";

  get isPiece(): boolean {
    return this.#lines.length >= PIECE_LINES;
  }

  /** The first line inside an item shares the line with the dash. */
  beginItem(indent: string): void {
    if (this.#dashes === "") this.#dashes = indent;
    this.#dashes += "- ";
  }

  /** An item whose members are all undefined has no line of its own. */
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

/** Non-empty; an empty one is written on the line of its key. */
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
      else lines.add(indent, scalarText(item, indent));
      lines.endItem();
    }
    return;
  }
  for (const [key, member] of Object.entries(value).sort(([a], [b]) => compareKeys(a, b))) {
    if (member === undefined) continue;
    if (lines.isPiece) yield lines.take();
    const name = `${keyText(key)}:`;
    if (!isCollection(member)) {
      lines.add(indent, `${name} ${scalarText(member, indent)}`);
      continue;
    }
    lines.add(indent, name);
    yield* writeCollection(member, Array.isArray(member) ? indent : `${indent}  `, lines);
  }
}

const DIGITS = /[0-9]+/y;
const LETTER = /\p{L}/uy;

/** Letters come after everything else, and numbers inside of names are compared as numbers. */
function compareKeys(left: string, right: string): number {
  const at = firstDifference(left, right);
  if (at >= left.length || at >= right.length) return left.length - right.length;
  const [x, y] = [digitsAt(left, at), digitsAt(right, at)];
  if (x !== "" && y !== "") return x.length - y.length || (x < y ? -1 : 1);
  const letters = Number(isAt(LETTER, left, at)) - Number(isAt(LETTER, right, at));
  return letters === 0 ? (left.slice(at) < right.slice(at) ? -1 : 1) : letters;
}

/** Where the first number or character begins that is not in both. Keys may be long and begin alike: nothing is made of them. */
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

function scalarText(value: unknown, indent: string): string {
  if (typeof value === "string") return value.includes("\n") ? blockText(value, indent) : stringText(value);
  if (typeof value === "bigint") return value.toString();
  return JSON.stringify(value) ?? "null";
}

function stringText(text: string): string {
  if (isAmbiguousYaml(text) || UNPRINTABLE.test(text)) return doubleQuoted(text);
  if (!INDICATOR_FIRST.test(text) && !INDICATOR_INSIDE.test(text)) return text;
  return `'${text.replaceAll("'", "''")}'`;
}

/** A literal block where that keeps every character; the indicator says how many line breaks the end has. */
function blockText(text: string, indent: string): string {
  if (UNPRINTABLE.test(text) || /^[\s]|[ \t](\n|$)/.test(text)) return doubleQuoted(text);
  const body = text.slice(0, indexOfTrailing(text, "\n"));
  const breaks = text.length - body.length;
  const lines = body.split("\n").map((line) => (line === "" ? "" : `${indent}  ${line}`));
  const more = Array<string>(Math.max(breaks - 1, 0)).fill("");
  return [breaks === 0 ? "|-" : breaks === 1 ? "|" : "|+", ...lines, ...more].join("\n");
}

/** JSON's escapes are YAML's too. */
function doubleQuoted(text: string): string {
  return JSON.stringify(text).replace(
    /[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}
