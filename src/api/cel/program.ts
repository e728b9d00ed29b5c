/**
 * CEL as in Kubernetes: the language, its libraries, types from schemas, and a bound on the cost of an expression.
 *
 *     const program = compileCel("self.replicas <= self.max", { variables: new Map([["self", type]]) });
 *     program.evaluate({ self: jsonToValue(type, object) }, { budget: 1_000_000 });
 */
import { childrenOf, type Expr } from "./ast.ts";
import { CelCompileError, CelConstantError, CelEvaluationError } from "./cel-error.ts";
import { checkCel, type CheckedExpression, type Declarations } from "./checker.ts";
import { estimateCost } from "./cost-estimate.ts";
import type { Evaluator } from "./evaluator.ts";
import { parseCel } from "./parser.ts";
import { planCel } from "./plan.ts";
import { Run } from "./run.ts";
import type { CelType } from "./type.ts";
import type { SizeHints } from "./value-path.ts";
import type { CelValue } from "./value.ts";

/** Budget of one evaluation, as in Kubernetes: about 100 ms at most. */
export const CALL_BUDGET = 1_000_000;

/** Values of variables, by name. */
export type Bindings = Readonly<Record<string, CelValue | undefined>>;

/** A compiled expression, which can be evaluated any number of times. */
export class Program {
  /** Type of the result, as far as it is known. */
  readonly type: CelType;
  readonly #expr: Expr;
  readonly #variables: readonly string[];
  readonly #step: Evaluator;
  readonly #declarations: Declarations;
  /** Result of the check, kept until the first estimate or evaluation: a definition is estimated right after its check. */
  #checked: CheckedExpression | undefined;

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

  /** Upper bound on the cost, from 0 to 2^64-1, by the sizes in the hints. */
  estimate(hints: SizeHints): bigint {
    const checked = this.#checked ?? checkCel(this.#expr, this.#declarations);
    this.#checked = undefined;
    return estimateCost(this.#expr, checked, hints);
  }

  /** True when the name occurs anywhere in the expression. */
  mentions(name: string): boolean {
    const open: Expr[] = [this.#expr];
    for (let expr = open.pop(); expr !== undefined; expr = open.pop()) {
      if (expr.kind === "ident" && expr.name === name) return true;
      for (const child of childrenOf(expr)) open.push(child);
    }
    return false;
  }

  /**
   * Evaluates the expression. Throws a CelEvaluationError when it has no value, and a CelBudgetError when it exceeds its
   * budget. A missing variable is an error only when it is read.
   */
  evaluate(bindings: Bindings, { budget }: { readonly budget: number }): CelValue {
    return this.runIn(new Run(budget), bindings);
  }

  /** Evaluates the expression in a fresh run, which counts the cost. */
  runIn(run: Run, bindings: Bindings): CelValue {
    this.#checked = undefined;
    for (const name of this.#variables)
      run.slots.push(Object.hasOwn(bindings, name) ? bindings[name] : undefined);
    return this.#step(run);
  }
}

/** Conversions that are tried at compile time if their arguments are constant. */
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

/** Throws for a constant conversion that always fails, such as `int("x")`. */
function tryConversions(whole: Expr, checked: CheckedExpression): void {
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

function tryConversion(step: Evaluator): void {
  try {
    step(new Run(CALL_BUDGET));
  } catch (error) {
    if (error instanceof CelEvaluationError) throw new CelConstantError(error.message);
    throw error;
  }
}

/** Compiles an expression. Throws a CelCompileError. */
export function compileCel(source: string, declarations: Declarations): Program {
  return new Program(parseCel(source, declarations.bindings), declarations, source);
}
