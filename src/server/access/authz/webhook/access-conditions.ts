/** Evaluates the match conditions, which select the questions for a webhook. */
import { CelBudgetError, CelCompileError, CelEvaluationError } from "../../../../api/cel/cel-error.ts";
import { jsonToValue } from "../../../../api/cel/cel-json-value.ts";
import { CALL_BUDGET, compileCel, type Program } from "../../../../api/cel/program.ts";
import { BOOL, declaredTypeText } from "../../../../api/cel/type.ts";
import type { SubjectAccessReviewSpec } from "../../../../api/generated/types/authorization-v1.ts";
import { ACCESS_SPEC_TYPE } from "./access-spec.ts";

const VARIABLES = new Map([["request", ACCESS_SPEC_TYPE]]);

type ConditionsOutcome =
  | { readonly outcome: "met" | "not met" }
  | { readonly outcome: "failed"; readonly why: string };

/** Throws an Error that describes the invalid expression. */
export function compileConditions(expressions: readonly string[]): readonly Program[] {
  return expressions.map((expression) => {
    const program = compiled(expression);
    if (program.type.name === BOOL.name) return program;
    throw new Error(
      `${JSON.stringify(expression)} must evaluate to bool but got ${declaredTypeText(program.type)}`,
    );
  });
}

function compiled(expression: string): Program {
  try {
    return compileCel(expression, { variables: VARIABLES });
  } catch (error) {
    if (!(error instanceof CelCompileError)) throw error;
    throw new Error(`compilation of ${JSON.stringify(expression)} failed: ${error.message}`, {
      cause: error,
    });
  }
}

/** A false condition decides, even if other conditions fail to evaluate. */
export function judgeConditions(
  programs: readonly Program[],
  spec: SubjectAccessReviewSpec,
): ConditionsOutcome {
  const problems: string[] = [];
  const request = jsonToValue(ACCESS_SPEC_TYPE, spec);
  for (const program of programs) {
    try {
      if (program.evaluate({ request }, { budget: CALL_BUDGET }) !== true) return { outcome: "not met" };
    } catch (error) {
      if (!(error instanceof CelEvaluationError) && !(error instanceof CelBudgetError)) throw error;
      problems.push(error.message);
    }
  }
  return problems.length === 0 ? { outcome: "met" } : { outcome: "failed", why: problems.join(", ") };
}
