/**
 * Implements `"%s has %d".format([name, count])` as version 2 of the strings extension, which Kubernetes has. Numbers with a
 * fraction are formatted in English. Items of lists and maps are written as in an expression.
 */
import { quoted } from "../../values/message-text.ts";
import type { CallExpr, Expr } from "../ast.ts";
import { CelEvaluationError, type CelIssue } from "../cel-error.ts";
import { itemsOf } from "../cel-json-value.ts";
import type { Run } from "../run.ts";
import type { CelType } from "../type.ts";
import {
  Bytes,
  CelList,
  CelMap,
  CelRecord,
  type CelValue,
  Duration,
  Timestamp,
  tagOf,
  Uint,
} from "../value.ts";
import { findText } from "./conversion.ts";

const CLAUSE = /%(\.\d*)?([^])?/g;
/** Default precision, as in cel-go. */
const PRECISION = 6;
/** Largest precision that JavaScript supports. */
const PRECISION_MAX = 100;

const WHOLE = ["int", "uint"];
const SPECIAL: ReadonlyMap<string, number> = new Map([
  ["NaN", Number.NaN],
  ["Infinity", Number.POSITIVE_INFINITY],
  ["-Infinity", Number.NEGATIVE_INFINITY],
]);

interface Verb {
  /** Accepted types. A string is accepted for a number when it names a special one, such as NaN. */
  readonly types: ReadonlySet<string>;
  /** Error text for other types. */
  readonly only: string;
  readonly show: (value: CelValue, precision: number) => string;
}

const SCALARS = [...WHOLE, "double", "bool", "string", "bytes", "type", "null_type"];
const TIMES = ["google.protobuf.Timestamp", "google.protobuf.Duration"];
const HEX: Verb = {
  types: new Set([...WHOLE, "string", "bytes"]),
  only: "only integers, byte buffers, and strings can be formatted as hex",
  show: hexText,
};

const VERBS: ReadonlyMap<string, Verb> = new Map<string, Verb>([
  [
    "s",
    {
      types: new Set([...SCALARS, ...TIMES, "list", "map"]),
      only: "string clause can only be used on strings, bools, bytes, ints, doubles, maps, lists, types, durations, and timestamps",
      show: (value) => shownText(value, "alone"),
    },
  ],
  [
    "d",
    {
      types: new Set(WHOLE),
      only: "decimal clause can only be used on integers",
      show: (value) => wholeOf(value).toString(),
    },
  ],
  [
    "f",
    {
      types: new Set(["double", "string"]),
      only: "fixed-point clause can only be used on doubles",
      show: (value, precision) => groupedText(fixedText(numberOf(value, "fixed-point"), precision)),
    },
  ],
  [
    "e",
    {
      types: new Set(["double", "string"]),
      only: "scientific clause can only be used on doubles",
      // Upstream treats a precision as a minimum width, which the result always exceeds.
      show: (value) => scientificText(numberOf(value, "scientific")),
    },
  ],
  [
    "b",
    {
      types: new Set([...WHOLE, "bool"]),
      only: "only integers and bools can be formatted as binary",
      show: (value) => (typeof value === "boolean" ? String(Number(value)) : wholeOf(value).toString(2)),
    },
  ],
  ["x", HEX],
  ["X", { ...HEX, show: (value) => hexText(value).toUpperCase() }],
  [
    "o",
    {
      types: new Set(WHOLE),
      only: "octal clause can only be used on integers",
      show: (value) => wholeOf(value).toString(8),
    },
  ],
]);

interface Clause extends Verb {
  readonly precision: number;
}

/** Replaces each clause with the text of the argument at its position. Throws a CelEvaluationError. */
function expand(format: string, size: number, shown: (clause: Clause, at: number) => string): string {
  let used = 0;
  return format.replaceAll(CLAUSE, (whole, precision: string | undefined, letter: string | undefined) => {
    if (whole === "%%") return "%";
    if (whole === "%") throw new CelEvaluationError("unexpected end of string");
    if (used >= size) throw new CelEvaluationError(`index ${used} out of range`);
    const text = shown(clauseOf(precision, letter), used);
    used += 1;
    return text;
  });
}

function clauseOf(precision: string | undefined, letter: string | undefined): Clause {
  const verb = VERBS.get(letter ?? "");
  if (letter === undefined)
    throw clauseError("error while parsing precision: could not find end of precision specifier");
  if (precision === ".")
    throw clauseError(
      'error while parsing precision: error while converting precision to integer: strconv.Atoi: parsing "": invalid syntax',
    );
  if (verb === undefined) throw clauseError(`unrecognized formatting clause "${letter}"`);
  return { ...verb, precision: precision === undefined ? PRECISION : Number(precision.slice(1)) };
}

function clauseError(message: string): CelEvaluationError {
  return new CelEvaluationError(`could not parse formatting clause: ${message}`);
}

function unfit({ only }: Verb, type: string): string {
  return `error during formatting: ${only}, was given ${type}`;
}

export function formatText(format: string, list: CelList, run: Run): string {
  run.charge(10 + format.length);
  return expand(format, list.size, (clause, at) => {
    const value = list.at(at);
    const tag = value instanceof CelRecord ? "map" : tagOf(value);
    if (!clause.types.has(tag)) throw new CelEvaluationError(unfit(clause, tag));
    if (clause.precision > PRECISION_MAX)
      throw new CelEvaluationError(`precision too large: ${clause.precision}`);
    const text = clause.show(value, clause.precision);
    run.chargeText(text.length);
    return text;
  });
}

/** The first certain mistake in a constant format with constant arguments. */
export function findFormatMistake(
  { name, target, args: [list], at: place }: CallExpr,
  typeOf: (expr: Expr) => CelType,
): CelIssue | undefined {
  const format = target?.kind === "literal" ? target.value : undefined;
  if (name !== "format" || typeof format !== "string" || list?.kind !== "list") return undefined;
  let mistake: CelIssue | undefined;
  let used = 0;
  try {
    expand(format, list.items.length, (clause, at) => {
      used += 1;
      mistake ??= findUnfit(clause, list.items[at]?.value, typeOf);
      return "";
    });
  } catch (error) {
    if (!(error instanceof CelEvaluationError)) throw error;
    mistake ??= { at: place, message: error.message };
  }
  if (mistake !== undefined || used === list.items.length) return mistake;
  const message = `too many arguments supplied to string.format (expected ${used}, got ${list.items.length})`;
  return { at: place, message };
}

function findUnfit(
  clause: Clause,
  arg: Expr | undefined,
  typeOf: (expr: Expr) => CelType,
): CelIssue | undefined {
  if (arg === undefined) return undefined;
  const { kind, name } = typeOf(arg);
  const isKnown = kind !== "dyn" && kind !== "error" && kind !== "parameter";
  if (isKnown && !clause.types.has(name)) return { at: arg.at, message: unfit(clause, name) };
  if (!clause.types.has("list")) return undefined;
  const parts =
    arg.kind === "list"
      ? arg.items.map(({ value }) => value)
      : arg.kind === "map"
        ? arg.entries.flatMap(({ key, value }) => [key, value])
        : [];
  for (const part of parts) {
    const mistake = findUnfit(clause, part, typeOf);
    if (mistake !== undefined) return mistake;
  }
  return undefined;
}

/**
 * Text of a value. Map entries are in the order of their keys. A value `within` a list or map is written as in an
 * expression.
 */
function shownText(value: CelValue, place: "alone" | "within"): string {
  if (value === null) return "null";
  if (value instanceof CelList) return `[${itemsOf(value).map(shownWithin).join(", ")}]`;
  if (value instanceof CelMap) return entriesText([...value.keys()], (key) => value.find(key));
  if (value instanceof CelRecord) return recordText(value);
  const text = value instanceof Bytes ? Buffer.from(value.data).toString() : findText(value);
  if (text === undefined)
    throw new CelEvaluationError(`error during formatting: no formatting function for ${tagOf(value)}`);
  return place === "alone" ? text : writtenText(value, text);
}

function shownWithin(value: CelValue): string {
  return shownText(value, "within");
}

function recordText(record: CelRecord): string {
  return entriesText([...record.fields()], (key) => record.find(key as string));
}

function entriesText(keys: readonly CelValue[], find: (key: CelValue) => CelValue | undefined): string {
  const entries = keys.map((key) => [shownWithin(key), shownWithin(find(key) ?? null)] as const);
  const sorted = entries.toSorted(([left], [right]) => (left < right ? -1 : 1));
  return `{${sorted.map(([key, value]) => `${key}:${value}`).join(", ")}}`;
}

function writtenText(value: CelValue, text: string): string {
  if (typeof value === "string") return quoted(text);
  if (value instanceof Bytes) return `b${quoted(text)}`;
  if (value instanceof Timestamp) return `timestamp(${quoted(text)})`;
  if (value instanceof Duration) return `duration(${quoted(text)})`;
  if (typeof value !== "number") return text;
  return Number.isFinite(value) ? fixedText(value, PRECISION) : quoted(text);
}

function wholeOf(value: CelValue): bigint {
  return value instanceof Uint ? value.value : (value as bigint);
}

function numberOf(value: CelValue, clause: string): number {
  if (typeof value === "number") return value;
  const special = SPECIAL.get(value as string);
  if (special !== undefined) return special;
  throw new CelEvaluationError(
    `error during formatting: ${clause} clause can only be used on doubles, was given string`,
  );
}

function fixedText(value: number, precision: number): string {
  if (!Number.isFinite(value)) return infiniteText(value);
  if (Math.abs(value) >= 1e21) return `${BigInt(value)}${precision === 0 ? "" : `.${"0".repeat(precision)}`}`;
  // Enough decimals in practice to see whether a double lies exactly between two results.
  const exact = value.toFixed(PRECISION_MAX);
  const end = exact.length - PRECISION_MAX + precision;
  const isBetween = /^50*$/.test(exact.slice(end));
  const lower = exact.slice(0, precision === 0 ? end - 1 : end);
  return isBetween && /[02468]$/.test(lower) ? lower : value.toFixed(precision);
}

/** Groups digits: `1234567.5` becomes `1,234,567.5`. */
function groupedText(text: string): string {
  const [whole = "", ...fraction] = text.split(".");
  return [whole.replaceAll(/\B(?=(?:\d{3})+$)/g, ","), ...fraction].join(".");
}

const SUPERSCRIPTS: Readonly<Record<string, string>> = { "-": "⁻", "1": "¹", "2": "²", "3": "³" };
const SUPERSCRIPT_ZERO = 0x2070;

function scientificText(value: number): string {
  if (!Number.isFinite(value)) return infiniteText(value);
  const [digits = "", exponent = "0"] = value.toExponential(PRECISION).split("e");
  const power = Number(exponent);
  const size = String(Math.abs(power)).padStart(2, "0");
  const raised = Array.from(
    power < 0 ? `-${size}` : size,
    (digit) => SUPERSCRIPTS[digit] ?? String.fromCodePoint(SUPERSCRIPT_ZERO + Number(digit)),
  );
  return `${digits}×10${raised.join("")}`;
}

function infiniteText(value: number): string {
  if (Number.isNaN(value)) return "NaN";
  return value > 0 ? "∞" : "-∞";
}

function hexText(value: CelValue): string {
  if (typeof value === "string") return Buffer.from(value).toString("hex");
  if (value instanceof Bytes) return Buffer.from(value.data).toString("hex");
  return wholeOf(value).toString(16);
}
