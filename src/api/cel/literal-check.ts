/** Refuses invalid constant arguments when an expression is compiled, as Kubernetes does, instead of failing at run time. */
import { findPatternMistake } from "../formats/pattern.ts";
import type { CallExpr, Expr } from "./ast.ts";
import { CelEvaluationError, type CelIssue } from "./cel-error.ts";
import { durationOf, timestampOf, timestampOfSeconds } from "./library/conversion.ts";
import type { CelValue } from "./value.ts";

/** Functions called on a text with a pattern as first argument. */
const SEARCHES: ReadonlySet<string> = new Set(["matches", "find", "findAll"]);

export function findLiteralMistake({ name }: CallExpr, args: readonly Expr[]): CelIssue | undefined {
  const literal = args[SEARCHES.has(name) ? 1 : 0];
  if (literal?.kind !== "literal" || isFine(name, literal.value)) return undefined;
  return { at: literal.at, message: `invalid ${name} argument` };
}

function isFine(name: string, value: CelValue): boolean {
  if (typeof value === "bigint" && name === "timestamp") return succeeds(() => timestampOfSeconds(value));
  return typeof value !== "string" || isFineText(name, value);
}

function isFineText(name: string, text: string): boolean {
  if (SEARCHES.has(name)) return findPatternMistake(text) === undefined;
  switch (name) {
    case "duration":
      return succeeds(() => durationOf(text));
    case "timestamp":
      return succeeds(() => timestampOf(text));
    default:
      return true;
  }
}

function succeeds(convert: () => unknown): boolean {
  try {
    convert();
    return true;
  } catch (error) {
    if (error instanceof CelEvaluationError) return false;
    throw error;
  }
}
