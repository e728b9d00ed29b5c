/**
 * YAML as kubectl prints it: block style, keys sorted, lists not indented below their key, quotes only where the plain
 * text would be read as something else. Written here because responses can be large and this is linear and fast.
 */

import { endOfBody } from "../base/text-end.ts";
import { isAmbiguousYaml } from "./yaml-scalar.ts";

/** Characters that mean something at the beginning of a plain scalar. */
const INDICATOR_FIRST = /^[#,[\]{}&*!|>'"%@`]|^[-?:](?:\s|$)|^---|^\.\.\./;
/** What ends a plain scalar in its middle or cannot be seen at its ends. */
const INDICATOR_INSIDE = /: |:$| #|^\s|\s$/;
/** Needs escapes: control characters, the line breaks of Unicode, the byte order mark, lone surrogates. */
const UNPRINTABLE = /[^\t\n\x20-\x7e\u00a0-\u2027\u202a-\ufefe\uff00-\ufffd\u{10000}-\u{10ffff}\u0085]/u;

/** The document, with a line break at its end. */
export function stringifyYaml(value: unknown): string {
  const lines: string[] = [];
  if (isCollection(value)) writeCollection(value, "", lines);
  else lines.push(scalarText(value, ""));
  return `${lines.join("\n")}\n`;
}

type Collection = readonly unknown[] | Readonly<Record<string, unknown>>;

/** Non-empty; an empty one is written on the line of its key. */
function isCollection(value: unknown): value is Collection {
  if (typeof value !== "object" || value === null) return false;
  return Array.isArray(value) ? value.length > 0 : Object.keys(value).length > 0;
}

function writeCollection(value: Collection, indent: string, lines: string[]): void {
  if (Array.isArray(value)) {
    for (const item of value) writeItem(item, indent, lines);
    return;
  }
  for (const [key, member] of Object.entries(value).sort(([a], [b]) => compareKeys(a, b))) {
    if (member !== undefined) writeMember(key, member, { indent, lines });
  }
}

function writeItem(item: unknown, indent: string, lines: string[]): void {
  if (!isCollection(item)) {
    lines.push(`${indent}- ${scalarText(item, indent)}`);
    return;
  }
  // The first line of what is inside shares the line with the dash.
  const start = lines.length;
  writeCollection(item, `${indent}  `, lines);
  lines[start] = `${indent}- ${(lines[start] ?? "").slice(indent.length + 2)}`;
}

interface Place {
  readonly indent: string;
  readonly lines: string[];
}

function writeMember(key: string, member: unknown, { indent, lines }: Place): void {
  const name = `${indent}${keyText(key)}:`;
  if (!isCollection(member)) {
    lines.push(`${name} ${scalarText(member, indent)}`);
    return;
  }
  lines.push(name);
  writeCollection(member, Array.isArray(member) ? indent : `${indent}  `, lines);
}

/** Letters come after everything else, and numbers inside of names are compared as numbers. */
function compareKeys(left: string, right: string): number {
  const a = left.match(/[0-9]+|[^]/gu) ?? [];
  const b = right.match(/[0-9]+|[^]/gu) ?? [];
  const at = a.findIndex((part, i) => part !== b[i]);
  const [x, y] = [a[at], b[at]];
  if (x === undefined || y === undefined) return a.length - b.length;
  if (/^[0-9]/.test(x) && /^[0-9]/.test(y) && x.length !== y.length) return x.length - y.length;
  const letters = Number(/^\p{L}/u.test(x)) - Number(/^\p{L}/u.test(y));
  return letters === 0 ? (x < y ? -1 : 1) : letters;
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
  const body = text.slice(0, endOfBody(text, "\n"));
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
