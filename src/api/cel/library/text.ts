/** CEL functions of strings: the language's own and the strings extension. Positions count characters, not UTF-16 units. */
import { CelEvaluationError } from "../cel-error.ts";
import { itemsOf } from "../cel-json-value.ts";
import type { Library } from "../overload.ts";
import type { Run } from "../run.ts";
import { type CelList, type CelValue, PlainList } from "../value.ts";
import { formatText } from "./text-format.ts";

/** Characters of a text. Splitting a text takes longer than scanning it. */
function charactersOf(text: string, run: Run): readonly string[] {
  run.charge(Math.ceil(text.length * 0.3));
  return Array.from(text);
}

function outOfRange(at: bigint): CelEvaluationError {
  return new CelEvaluationError(`index out of range: ${at}`);
}

function characterAt(text: string, at: bigint, run: Run): string {
  const characters = charactersOf(text, run);
  if (at < 0n || at > characters.length) throw outOfRange(at);
  return characters[Number(at)] ?? "";
}

interface Search {
  readonly text: string;
  readonly part: string;
  /** Start in characters; `undefined` for the start, or for the end in a search for the last match. */
  readonly from?: bigint;
}

/** Index of the part. As in cel-go, the empty text matches at any position, and a start beyond the end finds nothing. */
function indexOf({ text, part, from = 0n }: Search, run: Run): bigint {
  chargeSearch(text, part, run);
  const characters = charactersOf(text, run);
  if (part === "") return from;
  if (from < 0n) throw outOfRange(from);
  if (from >= characters.length) return -1n;
  const skipped = unitsOf(characters, Number(from));
  return characterIndex(text, text.indexOf(part, skipped));
}

function lastIndexOf({ text, part, from }: Search, run: Run): bigint {
  chargeSearch(text, part, run);
  const characters = charactersOf(text, run);
  if (part === "") return from ?? BigInt(characters.length);
  if (from !== undefined && from < 0n) throw outOfRange(from);
  if (from !== undefined && from >= characters.length) return -1n;
  const start = from === undefined ? text.length : unitsOf(characters, Number(from));
  return characterIndex(text, text.lastIndexOf(part, start));
}

function unitsOf(characters: readonly string[], count: number): number {
  let units = 0;
  for (let at = 0; at < count; at++) units += characters[at]?.length ?? 0;
  return units;
}

function characterIndex(text: string, units: number): bigint {
  return units < 0 ? -1n : BigInt(Array.from(text.slice(0, units)).length);
}

/** Counts a search: the product of both lengths, as in cel-go. */
function chargeSearch(text: string, part: string, run: Run): void {
  run.charge(Math.ceil(text.length * 0.1) * Math.max(1, Math.ceil(part.length * 0.1)));
}

function substring(text: string, [start, end]: readonly [bigint, bigint | undefined], run: Run): string {
  const characters = charactersOf(text, run);
  const stop = end ?? BigInt(characters.length);
  if (start < 0n || start > characters.length) throw outOfRange(start);
  if (stop < 0n || stop > characters.length) throw outOfRange(stop);
  if (start > stop) throw new CelEvaluationError(`invalid substring range. start: ${start}, end: ${stop}`);
  return characters.slice(Number(start), Number(stop)).join("");
}

/** Replaces up to `limit` matches; a negative limit means all. */
function replace(text: string, [from, to, limit]: readonly [string, string, bigint], run: Run): string {
  chargeSearch(text, from, run);
  const most = limit < 0n ? -1n : limit + 1n;
  // The empty text matches before every character and at the end.
  const pieces = from === "" ? splitAtAll(charactersOf(text, run), most) : split(text, from, most);
  // Counted before the result is made, which may be much longer than the text.
  run.chargeText(text.length + pieces.length * to.length);
  return pieces.join(to);
}

/** Splits into at most `limit` pieces, the last with the rest; a negative limit means all. */
function split(text: string, separator: string, limit: bigint): readonly string[] {
  if (limit === 0n) return [];
  const pieces = separator === "" ? Array.from(text) : text.split(separator);
  if (limit < 0n || limit >= pieces.length) return pieces;
  const count = Number(limit) - 1;
  return [...pieces.slice(0, count), pieces.slice(count).join(separator)];
}

function splitAtAll(characters: readonly string[], limit: bigint): readonly string[] {
  const pieces = ["", ...characters, ""];
  if (limit < 0n || limit >= pieces.length) return pieces;
  const count = Number(limit) - 1;
  return [...pieces.slice(0, count), pieces.slice(count).join("")];
}

function join(list: CelList, separator: string, run: Run): string {
  const texts = itemsOf(list).map((item) => {
    if (typeof item !== "string") throw new CelEvaluationError("no such overload");
    run.chargeText(item.length + separator.length);
    return item;
  });
  run.charge(texts.length);
  return texts.join(separator);
}

const ASCII_UPPER = /[A-Z]+/g;
const ASCII_LOWER = /[a-z]+/g;
/** Unicode white space. */
const SPACE = "[\\t-\\r \\u0085\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000]";
const LEADING = new RegExp(`^${SPACE}+`);
const TRAILING = new RegExp(`${SPACE}$`);

function trim(text: string): string {
  const start = text.length - text.replace(LEADING, "").length;
  let end = text.length;
  while (end > start && TRAILING.test(text.charAt(end - 1))) end -= 1;
  return text.slice(start, end);
}

const QUOTED: ReadonlyMap<string, string> = new Map([
  ["\u0007", "\\a"],
  ["\b", "\\b"],
  ["\f", "\\f"],
  ["\n", "\\n"],
  ["\r", "\\r"],
  ["\t", "\\t"],
  ["\v", "\\v"],
  ["\\", "\\\\"],
  ['"', '\\"'],
]);

const QUOTED_CHARACTERS = new RegExp(`[${[...QUOTED.values()].join("").replaceAll("\\a", "\\x07")}]`, "g");

function quote(text: string): string {
  const escaped = text
    .replaceAll(/\p{Surrogate}/gu, "\ufffd")
    .replaceAll(QUOTED_CHARACTERS, (character) => QUOTED.get(character) ?? character);
  return `"${escaped}"`;
}

function textList(texts: readonly string[], run: Run): CelValue {
  run.charge(texts.length);
  return new PlainList(texts);
}

export const TEXT: Library = [
  [
    "string -> contains(string): bool",
    ([text, part], run) => {
      chargeSearch(text as string, part as string, run);
      return (text as string).includes(part as string);
    },
  ],
  [
    "string -> startsWith(string): bool",
    ([text, part], run) => {
      run.chargeText((part as string).length);
      return (text as string).startsWith(part as string);
    },
  ],
  [
    "string -> endsWith(string): bool",
    ([text, part], run) => {
      run.chargeText((part as string).length);
      return (text as string).endsWith(part as string);
    },
  ],
  ["string -> charAt(int): string", ([text, at], run) => characterAt(text as string, at as bigint, run)],
  [
    "string -> indexOf(string): int",
    ([text, part], run) => indexOf({ text: text as string, part: part as string }, run),
  ],
  [
    "string -> indexOf(string, int): int",
    ([text, part, from], run) =>
      indexOf({ text: text as string, part: part as string, from: from as bigint }, run),
  ],
  [
    "string -> lastIndexOf(string): int",
    ([text, part], run) => lastIndexOf({ text: text as string, part: part as string }, run),
  ],
  [
    "string -> lastIndexOf(string, int): int",
    ([text, part, from], run) =>
      lastIndexOf({ text: text as string, part: part as string, from: from as bigint }, run),
  ],
  [
    "string -> lowerAscii(): string",
    ([text], run) => {
      run.charge(Math.ceil((text as string).length * 0.5));
      return (text as string).replaceAll(ASCII_UPPER, (letters) => letters.toLowerCase());
    },
  ],
  [
    "string -> upperAscii(): string",
    ([text], run) => {
      run.charge(Math.ceil((text as string).length * 0.5));
      return (text as string).replaceAll(ASCII_LOWER, (letters) => letters.toUpperCase());
    },
  ],
  [
    "string -> replace(string, string): string",
    ([text, from, to], run) => replace(text as string, [from as string, to as string, -1n], run),
  ],
  [
    "string -> replace(string, string, int): string",
    ([text, from, to, limit], run) =>
      replace(text as string, [from as string, to as string, limit as bigint], run),
  ],
  [
    "string -> split(string): list<string>",
    ([text, separator], run) => {
      chargeSearch(text as string, separator as string, run);
      return textList(split(text as string, separator as string, -1n), run);
    },
  ],
  [
    "string -> split(string, int): list<string>",
    ([text, separator, limit], run) => {
      chargeSearch(text as string, separator as string, run);
      return textList(split(text as string, separator as string, limit as bigint), run);
    },
  ],
  [
    "string -> substring(int): string",
    ([text, start], run) => substring(text as string, [start as bigint, undefined], run),
  ],
  [
    "string -> substring(int, int): string",
    ([text, start, end], run) => substring(text as string, [start as bigint, end as bigint], run),
  ],
  [
    "string -> trim(): string",
    ([text], run) => {
      run.chargeText((text as string).length);
      return trim(text as string);
    },
  ],
  [
    "strings.quote(string): string",
    ([text], run) => {
      run.chargeText((text as string).length * 2);
      return quote(text as string);
    },
  ],
  ["list<string> -> join(): string", ([list], run) => join(list as CelList, "", run)],
  [
    "list<string> -> join(string): string",
    ([list, separator], run) => join(list as CelList, separator as string, run),
  ],
  [
    "string -> format(list<dyn>): string",
    ([text, list], run) => formatText(text as string, list as CelList, run),
  ],
];
