/**
 * CEL as Kubernetes speaks it: the language, its libraries, types from schemas, and a bound on what an expression may cost.
 *
 *     const program = compileCel("self.replicas <= self.max", { variables: new Map([["self", type]]) });
 *     program.evaluate({ self: jsonToValue(type, object) }, { budget: 1_000_000 });
 */
import { childrenOf, type Expr } from "./ast.ts";
import { CelCompileError, CelConstantError, CelEvaluationError } from "./cel-error.ts";
import { checkCel, type Checked, type Declarations } from "./checker.ts";
import { estimateCost } from "./cost-estimate.ts";
import { parseCel } from "./parser.ts";
import { planCel } from "./plan.ts";
import { Run } from "./run.ts";
import type { Step } from "./step.ts";
import type { CelType } from "./type.ts";
import type { SizeHints } from "./value-path.ts";
import type { CelValue } from "./value.ts";

/** As Kubernetes' for one call: some tenth of a second at most. */
export const CALL_BUDGET = 1_000_000;

/** Values of variables, by name. */
export type Bindings = Readonly<Record<string, CelValue | undefined>>;

/** May be evaluated any number of times. */
export class Program {
  /** What it gives, as far as is known. */
  readonly type: CelType;
  readonly #expr: Expr;
  readonly #variables: readonly string[];
  readonly #step: Step;
  readonly #declarations: Declarations;
  /** Kept until the first estimate or evaluation: a definition is checked and estimated at once. */
  #checked: Checked | undefined;

  constructor(expr: Expr, declarations: Declarations, source: string) {
    const checked = checkCel(expr, declarations);
    if (checked.issues.length > 0) throw new CelCompileError(source, checked.issues);
    this.#expr = expr;
    this.#declarations = declarations;
    this.#checked = checked;
    this.type = checked.type;
    this.#variables = [...declarations.variables.keys()];
    this.#step = planCel(expr, checked, this.#variables);
    tryConversions(expr, checked);
  }

  /** An upper bound on the cost, from 0 to 2^64-1, by the sizes that the hints allow. */
  estimate(hints: SizeHints): bigint {
    const checked = this.#checked ?? checkCel(this.#expr, this.#declarations);
    this.#checked = undefined;
    return estimateCost(this.#expr, checked, hints);
  }

  /** Whether the name stands anywhere in the expression. */
  mentions(name: string): boolean {
    const open: Expr[] = [this.#expr];
    for (let expr = open.pop(); expr !== undefined; expr = open.pop()) {
      if (expr.kind === "ident" && expr.name === name) return true;
      for (const child of childrenOf(expr)) open.push(child);
    }
    return false;
  }

  /**
   * Throws a CelEvaluationError when there is no value, and a CelBudgetError when there would be one too late. A variable that is
   * not given is an error only when it is needed.
   */
  evaluate(bindings: Bindings, { budget }: { readonly budget: number }): CelValue {
    return this.runIn(new Run(budget), bindings);
  }

  /** The same, counted by a run that nobody has used yet. */
  runIn(run: Run, bindings: Bindings): CelValue {
    this.#checked = undefined;
    for (const name of this.#variables)
      run.slots.push(Object.hasOwn(bindings, name) ? bindings[name] : undefined);
    return this.#step(run);
  }
}

/** What they make of a value that is written down is found out when an expression is compiled. */
const CONVERSIONS: ReadonlySet<string> = new Set([
  "bool",
  "bytes",
  "double",
  "duration",
  "dyn",
  "int",
  "string",
  "timestamp",
  "uint",
]);

/** Throws for a conversion that could never succeed, as `int("x")`. */
function tryConversions(whole: Expr, checked: Checked): void {
  const open: Expr[] = [whole];
  for (let expr = open.pop(); expr !== undefined; expr = open.pop()) {
    if (expr.kind === "call" && isConstant(expr)) tryConversion(planCel(expr, checked, []));
    else for (const child of childrenOf(expr)) open.push(child);
  }
}

function isConstant(expr: Expr): boolean {
  if (expr.kind === "literal") return true;
  if (expr.kind !== "call" || expr.target !== undefined || !CONVERSIONS.has(expr.name)) return false;
  const [argument, ...others] = expr.args;
  return argument !== undefined && others.length === 0 && isConstant(argument);
}

function tryConversion(step: Step): void {
  try {
    step(new Run(CALL_BUDGET));
  } catch (error) {
    if (error instanceof CelEvaluationError) throw new CelConstantError(error.message);
    throw error;
  }
}

/** Throws a CelCompileError. */
export function compileCel(source: string, declarations: Declarations): Program {
  return new Program(parseCel(source, declarations.bindings), declarations, source);
}
