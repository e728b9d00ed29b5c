/** Evaluates a validating policy for a request. */
import type { ApiErrorReason } from "../../../api/errors/api-error.ts";
import { findReason } from "../../../api/errors/api-error.ts";
import type {
  ValidatingAdmissionPolicy,
  Validation,
} from "../../../api/generated/types/admissionregistration-v1.ts";
import { EXPRESSION_RESULTS } from "../../../resources/admission/policy-environment.ts";
import {
  compileCommons,
  type CompiledCommons,
  compiledOnce,
  type PolicyExpression,
} from "./compiled-policy.ts";
import { type Evaluation, ExpressionError, SpentError } from "./evaluation.ts";

/** Upstream's limit of the result of a messageExpression. */
const MESSAGE_BYTES_MAX = 5 * 1024;

interface CompiledCheck {
  readonly validation: Validation;
  readonly expression: PolicyExpression;
  readonly message: PolicyExpression | undefined;
}

interface CompiledAnnotation {
  readonly key: string;
  readonly expression: PolicyExpression;
}

interface CompiledValidation extends CompiledCommons {
  readonly isFailClosed: boolean;
  readonly checks: readonly CompiledCheck[];
  readonly annotations: readonly CompiledAnnotation[];
}

export const compiledValidation = compiledOnce((policy: ValidatingAdmissionPolicy): CompiledValidation => {
  const { compile, ...commons } = compileCommons(policy, false);
  const { validations = [], auditAnnotations = [], failurePolicy } = policy.spec;
  return {
    ...commons,
    isFailClosed: failurePolicy !== "Ignore",
    checks: validations.map((validation) => {
      const { expression, messageExpression = "" } = validation;
      return {
        validation,
        expression: compile(expression, EXPRESSION_RESULTS.condition),
        message:
          messageExpression === "" ? undefined : compile(messageExpression, EXPRESSION_RESULTS.message),
      };
    }),
    annotations: auditAnnotations.map(({ key, valueExpression }) => ({
      key,
      expression: compile(valueExpression, EXPRESSION_RESULTS.annotation),
    })),
  };
});

/** A failed validation: it is false, or it has an error under failurePolicy Fail. */
export interface Decision {
  /** Index among the policy's validations. */
  readonly at: number;
  readonly message: string;
  readonly reason: ApiErrorReason;
}

interface Judgement {
  /** Failures for which the binding chooses the action. */
  readonly decisions: readonly Decision[];
  /** Failures that refuse the request, whatever the binding's actions are. */
  readonly failures: readonly Decision[];
  readonly annotated: readonly (readonly [key: string, value: string])[];
}

export function judge(policy: CompiledValidation, evaluation: Evaluation): Judgement {
  try {
    if (!evaluation.isSelected()) return { decisions: [], failures: [], annotated: [] };
    const decisions = policy.checks.flatMap((check, at) => decide(check, at, { policy, evaluation }));
    return { decisions, ...annotate(policy, evaluation) };
  } catch (error) {
    if (!(error instanceof ExpressionError)) throw error;
    return { decisions: failed(error, 0, policy), failures: [], annotated: [] };
  }
}

interface Judging {
  readonly policy: CompiledValidation;
  readonly evaluation: Evaluation;
}

function decide(check: CompiledCheck, at: number, { policy, evaluation }: Judging): readonly Decision[] {
  try {
    if (evaluation.evaluate(check.expression) === true) return [];
    const reason = findReason(check.validation.reason) ?? "Invalid";
    return [{ at, message: messageOf(check, evaluation), reason }];
  } catch (error) {
    if (!(error instanceof ExpressionError) || error instanceof SpentError) throw error;
    return failed(error, at, policy);
  }
}

/** An evaluation error counts as a failed validation, unless failurePolicy is Ignore. */
function failed({ message }: Error, at: number, { isFailClosed }: CompiledValidation): readonly Decision[] {
  return isFailClosed ? [{ at, message, reason: "Invalid" }] : [];
}

function messageOf({ validation, message }: CompiledCheck, evaluation: Evaluation): string {
  const made = message === undefined ? "" : madeMessage(message, evaluation);
  if (made !== "") return made;
  const { message: fixed = "", expression } = validation;
  return fixed.trim() === "" ? `failed expression: ${expression.trim()}` : fixed.trim();
}

/** Empty if the expression fails or its result cannot be shown. */
function madeMessage(expression: PolicyExpression, evaluation: Evaluation): string {
  try {
    const value = evaluation.evaluate(expression);
    const text = typeof value === "string" ? value.trim() : "";
    return text.includes("\n") || Buffer.byteLength(text) > MESSAGE_BYTES_MAX ? "" : text;
  } catch (error) {
    if (error instanceof SpentError) throw new SpentError("failed messageExpression");
    if (error instanceof ExpressionError) return "";
    throw error;
  }
}

function annotate(
  policy: CompiledValidation,
  evaluation: Evaluation,
): Pick<Judgement, "failures" | "annotated"> {
  const annotated: (readonly [string, string])[] = [];
  const failures: Decision[] = [];
  for (const [at, { key, expression }] of policy.annotations.entries()) {
    try {
      const value = evaluation.evaluate(expression);
      if (typeof value === "string" && value.trim() !== "") annotated.push([key, value.trim()]);
    } catch (error) {
      if (!(error instanceof ExpressionError)) throw error;
      failures.push(...failed(error, at, policy));
    }
  }
  return { failures, annotated };
}
