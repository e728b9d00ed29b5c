/** Literals that can only fail at run time are refused when an expression is compiled, as Kubernetes does. */
import { findPatternMistake } from "../structural/pattern.ts";
import type { CallExpr, Expr } from "./ast.ts";
import { CelEvaluationError, type CelIssue } from "./cel-error.ts";
import { durationOf, timestampOf } from "./library/conversion.ts";

export function findLiteralMistake({ name }: CallExpr, args: readonly Expr[]): CelIssue | undefined {
  const literal = args[name === "matches" ? 1 : 0];
  if (literal?.kind !== "literal" || typeof literal.value !== "string" || isFine(name, literal.value))
    return undefined;
  return { at: literal.at, message: `invalid ${name} argument` };
}

function isFine(name: string, text: string): boolean {
  switch (name) {
    case "matches":
      return findPatternMistake(text) === undefined;
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
