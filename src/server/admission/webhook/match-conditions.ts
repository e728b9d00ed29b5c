/** Evaluates the match conditions of a webhook for one request. They are compiled at first use. */
import { Allowance, Effort } from "../../../api/cel/allowance.ts";
import { CelBudgetError, CelEvaluationError } from "../../../api/cel/cel-error.ts";
import type { Bindings, Program } from "../../../api/cel/program.ts";
import { shownContent } from "../../../api/errors/secret-content.ts";
import type { MatchCondition } from "../../../api/generated/types/admissionregistration-v1.ts";
import { compileMatchCondition } from "../../../resources/admission/match-condition.ts";

/** Upstream's cost budget for all conditions of a webhook together. */
const BUDGET = 2_500_000;
const OUT_OF_BUDGET =
  "validation failed due to running out of cost budget, no further validation rules will be run";

export type ConditionsOutcome =
  | { readonly outcome: "met" }
  /**
   * `by` names the first condition that is false. It is empty if evaluation failed and the failure policy is Ignore.
   */
  | { readonly outcome: "excluded"; readonly by: string }
  | { readonly outcome: "failed"; readonly why: string };

type Compiled = { readonly program: Program } | { readonly mistake: string };

export class MatchConditions {
  readonly #conditions: readonly MatchCondition[];
  readonly #failurePolicy: "Fail" | "Ignore";
  #compiled: readonly Compiled[] | undefined;

  constructor(conditions: readonly MatchCondition[], failurePolicy: "Fail" | "Ignore") {
    this.#conditions = conditions;
    this.#failurePolicy = failurePolicy;
  }

  /** A false condition excludes the webhook, even if others cannot be evaluated. `kind` is the kind of the object. */
  evaluate(variables: Bindings, kind: string): ConditionsOutcome {
    this.#compiled ??= this.#conditions.map(({ expression }) => compileMatchCondition(expression.trim()));
    const problems: string[] = [];
    const allowance = new Allowance(BUDGET, new Effort());
    for (const [at, { name, expression }] of this.#conditions.entries()) {
      const compiled = this.#compiled[at];
      if (compiled === undefined) continue;
      const held = holds(compiled, variables, allowance);
      if (held === false) return { outcome: "excluded", by: name };
      if (held === OUT_OF_BUDGET) return this.#failed([OUT_OF_BUDGET]);
      if (held === true) continue;
      problems.push(`expression '${expression}' resulted in error: ${shownContent(kind, () => held)}`);
    }
    return problems.length === 0 ? { outcome: "met" } : this.#failed(problems);
  }

  #failed(problems: readonly string[]): ConditionsOutcome {
    if (this.#failurePolicy === "Ignore") return { outcome: "excluded", by: "" };
    const text = problems.join(", ");
    return { outcome: "failed", why: problems.length === 1 ? text : `[${text}]` };
  }
}

/** A string is the reason why the condition cannot be evaluated. */
function holds(compiled: Compiled, variables: Bindings, allowance: Allowance): boolean | string {
  if ("mistake" in compiled) return compiled.mistake;
  try {
    return allowance.evaluate(compiled.program, variables) === true;
  } catch (error) {
    if (error instanceof CelBudgetError) return allowance.isSpent ? OUT_OF_BUDGET : error.message;
    if (error instanceof CelEvaluationError) return error.message;
    throw error;
  }
}
