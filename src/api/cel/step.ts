/** What the steps of a plan have in common. */
import type { Expr } from "./ast.ts";
import { CelEvaluationError } from "./cel-error.ts";
import type { Run } from "./run.ts";
import { type CelValue, keyText, tagOf } from "./value.ts";

/** A part of an expression, made ready. */
export type Step = (run: Run) => CelValue;

/** What a macro needs of the planner. */
export interface StepMaker {
  plan(expr: Expr): Step;
  /** Runs the step while the names stand for new slots, which it is told. */
  within<T>(names: readonly string[], step: (slots: readonly number[]) => T): T;
}

/** An error that is made and then not needed takes far longer than a value. */
const ABSORBED_ERROR_EFFORT = 50;

/** The truth that a step gives, or why it gives none. */
export function settle(step: Step, run: Run): boolean | CelEvaluationError {
  try {
    const value = step(run);
    return typeof value === "boolean" ? value : new CelEvaluationError("no such overload");
  } catch (error) {
    if (!(error instanceof CelEvaluationError)) throw error;
    run.charge(ABSORBED_ERROR_EFFORT);
    return error;
  }
}

export type MapEntries = Map<string, readonly [CelValue, CelValue]>;

/** Throws for a key that cannot be one. The last of equal keys counts. */
export function putEntry(entries: MapEntries, key: CelValue, value: CelValue): void {
  entries.set(keyTextOf(key), [key, value]);
}

/** Throws for a key that is there already, too. */
export function addEntry(entries: MapEntries, key: CelValue, value: CelValue): void {
  const text = keyTextOf(key);
  if (entries.has(text)) throw new CelEvaluationError(`insert failed: key ${text.slice(1)} already exists`);
  entries.set(text, [key, value]);
}

function keyTextOf(key: CelValue): string {
  const text = typeof key === "number" ? undefined : keyText(key);
  if (text === undefined) throw new CelEvaluationError(`unsupported key type: ${tagOf(key)}`);
  return text;
}
