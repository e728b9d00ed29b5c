/** `"%s has %d".format([name, count])` */
import { CelEvaluationError } from "../cel-error.ts";
import { itemsOf } from "../json-value.ts";
import type { Run } from "../run.ts";
import { Bytes, CelList, CelMap, type CelValue, Duration, Timestamp, tagOf, Uint } from "../value.ts";
import { doubleText, findText } from "./conversion.ts";

const CLAUSE = /%(?:\.(\d+))?([^])?/g;
/** As cel-go's when no precision is given. */
const PRECISION = 6;
/** What JavaScript can write; nobody reads more. */
const PRECISION_MAX = 100;

export function formatText(format: string, list: CelList, run: Run): string {
  run.charge(10 + format.length);
  let used = 0;
  return format.replaceAll(CLAUSE, (_, precision: string | undefined, verb: string | undefined) => {
    if (verb === "%") return "%";
    if (used >= list.size) throw new CelEvaluationError(`index ${used} out of range`);
    const text = formatValue(verb ?? "", list.at(used), Number(precision ?? PRECISION));
    used += 1;
    run.chargeText(text.length);
    return text;
  });
}

function formatValue(verb: string, value: CelValue, precision: number): string {
  if (precision > PRECISION_MAX) throw new CelEvaluationError(`precision too large: ${precision}`);
  switch (verb) {
    case "s":
      return shownText(value);
    case "d":
      return decimalText(value);
    case "f":
      return fixedText(numberOf(value, "fixed-point"), precision);
    case "e":
      return scientificText(numberOf(value, "scientific notation"), precision);
    case "b":
      return typeof value === "boolean" ? String(Number(value)) : wholeOf(value, "binary").toString(2);
    case "x":
      return hexText(value);
    case "X":
      return hexText(value).toUpperCase();
    case "o":
      return wholeOf(value, "octal").toString(8);
    default:
      throw new CelEvaluationError(
        `could not parse formatting clause: unrecognized formatting clause "${verb}"`,
      );
  }
}

/** Lists and maps are shown with their items; map entries in the order of their keys. */
function shownText(value: CelValue): string {
  if (value === null) return "null";
  if (value instanceof CelList) return `[${itemsOf(value).map(shownText).join(", ")}]`;
  if (value instanceof CelMap) {
    const entries = [...value.keys()].map(
      (key) => `${shownText(key)}: ${shownText(value.find(key) ?? null)}`,
    );
    return `{${entries.toSorted().join(", ")}}`;
  }
  if (value instanceof Bytes) return Buffer.from(value.data).toString();
  const text = typeof value === "number" ? shownNumber(value) : findText(value);
  if (text === undefined)
    throw new CelEvaluationError(
      `error during formatting: string clause can only be used on strings, bools, bytes, ints, doubles, maps, lists, types, durations, and timestamps, was given ${tagOf(value)}`,
    );
  return text;
}

function shownNumber(value: number): string {
  if (Number.isFinite(value)) return doubleText(value);
  return Number.isNaN(value) ? "NaN" : value > 0 ? "Infinity" : "-Infinity";
}

function decimalText(value: CelValue): string {
  if (typeof value === "number" && !Number.isFinite(value)) return shownNumber(value);
  if (typeof value === "bigint" || value instanceof Uint || typeof value === "number")
    return findText(value) ?? "";
  throw new CelEvaluationError(
    `error during formatting: decimal clause can only be used on integers, was given ${tagOf(value)}`,
  );
}

function numberOf(value: CelValue, clause: string): number {
  if (typeof value === "number") return value;
  if (typeof value === "bigint") return Number(value);
  if (value instanceof Uint) return Number(value.value);
  if (value instanceof Duration || value instanceof Timestamp || value === null || typeof value !== "string")
    throw wrongType(clause, "doubles", value);
  const special: Readonly<Record<string, number>> = {
    NaN: Number.NaN,
    Infinity: Number.POSITIVE_INFINITY,
    "-Infinity": Number.NEGATIVE_INFINITY,
  };
  const found = Object.hasOwn(special, value) ? special[value] : undefined;
  if (found === undefined) throw wrongType(clause, "doubles", value);
  return found;
}

function wrongType(clause: string, wanted: string, value: CelValue): CelEvaluationError {
  return new CelEvaluationError(
    `error during formatting: ${clause} clause can only be used on ${wanted}, was given ${tagOf(value)}`,
  );
}

function fixedText(value: number, precision: number): string {
  if (!Number.isFinite(value)) return shownNumber(value);
  if (Math.abs(value) >= 1e21) return `${BigInt(value)}.${"0".repeat(precision)}`;
  // All decimals that a double can have in practice: enough to see whether it lies just between two results.
  const exact = value.toFixed(PRECISION_MAX);
  const end = exact.length - PRECISION_MAX + precision;
  const isBetween = /^50*$/.test(exact.slice(end));
  const lower = exact.slice(0, precision === 0 ? end - 1 : end);
  return isBetween && /[02468]$/.test(lower) ? lower : value.toFixed(precision);
}

function scientificText(value: number, precision: number): string {
  if (!Number.isFinite(value)) return shownNumber(value);
  return value.toExponential(precision).replace(/e([+-])(\d)$/, "e$10$2");
}

function wholeOf(value: CelValue, clause: string): bigint {
  if (typeof value === "bigint") return value;
  if (value instanceof Uint) return value.value;
  throw wrongType(clause, "integers", value);
}

function hexText(value: CelValue): string {
  if (typeof value === "string") return Buffer.from(value).toString("hex");
  if (value instanceof Bytes) return Buffer.from(value.data).toString("hex");
  return wholeOf(value, "hex").toString(16);
}
