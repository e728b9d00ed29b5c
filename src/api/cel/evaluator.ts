/** Types and functions shared by the steps of a plan. */
import type { Expr } from "./ast.ts";
import { CelEvaluationError } from "./cel-error.ts";
import type { Run } from "./run.ts";
import { type CelValue, keyText, tagOf } from "./value.ts";

/** A compiled part of an expression. */
export type Evaluator = (run: Run) => CelValue;

/** The planner, as seen by macros. */
export interface EvaluatorPlanner {
  plan(expr: Expr): Evaluator;
  /** Runs `step` while the names are bound to new slots, which `step` receives. */
  within<T>(names: readonly string[], step: (slots: readonly number[]) => T): T;
}

/** Effort of an error that an operator absorbs: making an error takes far longer than making a value. */
const ABSORBED_ERROR_EFFORT = 50;

/** Boolean result of a step, or its error. */
export function settle(step: Evaluator, run: Run): boolean | CelEvaluationError {
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

/** Sets an entry; a later entry replaces one with an equal key. Throws for an invalid key. */
export function putEntry(entries: MapEntries, key: CelValue, value: CelValue): void {
  entries.set(keyTextOf(key), [key, value]);
}

/** Adds an entry. Throws for an invalid key and for one that already exists. */
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
