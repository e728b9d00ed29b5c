/** Evaluates one policy for one request with one parameter object. */
import { Allowance, COST_MAX, type Effort } from "../../../api/cel/allowance.ts";
import { CelBudgetError, CelEvaluationError } from "../../../api/cel/cel-error.ts";
import { jsonToValue } from "../../../api/cel/cel-json-value.ts";
import { LazyRecord } from "../../../api/cel/lazy-record.ts";
import type { Bindings } from "../../../api/cel/program.ts";
import type { Run } from "../../../api/cel/run.ts";
import { DYN } from "../../../api/cel/type.ts";
import type { CelValue } from "../../../api/cel/value.ts";
import { hidesContent, REDACTED } from "../../../api/errors/secret-content.ts";
import { VARIABLES_TYPE } from "../../../resources/admission/policy-environment.ts";
import type { ApiObject } from "../../../resources/rules/kind-rules.ts";
import type { CompiledCommons, PolicyExpression } from "./compiled-policy.ts";

/** Upstream's cost limit for all match conditions of a policy. */
const CONDITIONS_COST_MAX = 2_500_000;

/** Fixed cost of an evaluation, so that the number of policies for one request is bounded. */
const INVOCATION_EFFORT = 50;

/** An expression has no value. The message is upstream's. */
export class ExpressionError extends Error {}

/** The expression failed at runtime. */
class ResultError extends ExpressionError {
  readonly source: string;

  constructor(source: string, why: string) {
    super(`expression '${source}' resulted in error: ${why}`);
    this.source = source;
  }
}

/** The budget is spent: no further expression is evaluated. */
export class SpentError extends ExpressionError {
  /** `what` names the failed step. */
  constructor(what = "") {
    const text =
      "validation failed due to running out of cost budget, no further validation rules will be run";
    super(what === "" ? text : `${what}: ${text}`);
  }
}

export interface EvaluationOptions {
  readonly commons: CompiledCommons;
  /** Bindings of the request, shared by all its policies. */
  readonly bindings: Bindings;
  readonly params: ApiObject | undefined;
  readonly effort: Effort;
  /** Kind of the object. Messages about Secrets do not quote values. */
  readonly kind: string;
}

export class Evaluation {
  readonly #commons: CompiledCommons;
  readonly #bindings: Bindings;
  readonly #effort: Effort;
  readonly #allowance: Allowance;
  readonly #kind: string;

  constructor({ commons, bindings, params, effort, kind }: EvaluationOptions) {
    this.#commons = commons;
    this.#kind = kind;
    this.#effort = effort;
    effort.left -= INVOCATION_EFFORT;
    this.#allowance = new Allowance(COST_MAX, effort);
    const own: Record<string, CelValue | undefined> = {
      ...bindings,
      params: params === undefined ? null : jsonToValue(DYN, params),
    };
    own["variables"] = this.#variables(own);
    this.#bindings = own;
  }

  #variables(bindings: Bindings): CelValue {
    const makers = new Map<string, () => CelValue>();
    for (const [name, compiled] of this.#commons.variables) {
      makers.set(name, () => {
        if ("mistake" in compiled) throw new CelEvaluationError(compiled.mistake);
        return this.#allowance.evaluate(compiled.program, bindings);
      });
    }
    return new LazyRecord(VARIABLES_TYPE, makers);
  }

  /** Whether the match conditions select this request. One false condition decides, even if others fail. */
  isSelected(): boolean {
    const { conditions } = this.#commons;
    if (conditions.length === 0) return true;
    const allowance = new Allowance(CONDITIONS_COST_MAX, this.#effort);
    const failures: ExpressionError[] = [];
    for (const condition of conditions) {
      try {
        const held = this.#told(() => evaluate(condition, this.#bindings, allowance));
        if (held !== true) return false;
      } catch (error) {
        if (!(error instanceof ExpressionError)) throw error;
        failures.push(error);
        if (error instanceof SpentError) break;
      }
    }
    if (failures.length === 0) return true;
    const texts = [...new Set(failures.map(({ message }) => message))];
    throw new ExpressionError(texts.length === 1 ? texts.join("") : `[${texts.join(", ")}]`);
  }

  /** Throws an ExpressionError. */
  evaluate(expression: PolicyExpression): CelValue {
    return this.#told(() => evaluate(expression, this.#bindings, this.#allowance));
  }

  /** Runs a step on a computed value within the cost budget. Throws an ExpressionError. */
  within<T>(source: string, step: (run: Run) => T): T {
    return this.#told(() => counted(source, this.#allowance, () => this.#allowance.within(step)));
  }

  #told<T>(step: () => T): T {
    try {
      return step();
    } catch (error) {
      if (!(error instanceof ResultError)) throw error;
      throw hidesContent(this.#kind) ? new ResultError(error.source, REDACTED) : error;
    }
  }
}

function evaluate(
  { source, compiled }: PolicyExpression,
  bindings: Bindings,
  allowance: Allowance,
): CelValue {
  if ("mistake" in compiled) throw new ExpressionError(`compilation error: ${compiled.mistake}`);
  const { program } = compiled;
  return counted(source, allowance, () => allowance.evaluate(program, bindings));
}

function counted<T>(source: string, allowance: Allowance, step: () => T): T {
  try {
    return step();
  } catch (error) {
    if (error instanceof CelBudgetError && allowance.isSpent) throw new SpentError();
    if (error instanceof CelBudgetError || error instanceof CelEvaluationError)
      throw new ResultError(source, error.message);
    throw error;
  }
}
