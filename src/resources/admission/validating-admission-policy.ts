/** ValidatingAdmissionPolicy: CEL expressions that an object must satisfy to be stored. */

import { type FieldErrors, type FieldPath, fieldPath } from "../../api/errors/field-error.ts";
import type {
  AuditAnnotation,
  ValidatingAdmissionPolicy,
  Validation,
} from "../../api/generated/types/admissionregistration-v1.ts";
import { qualifiedName } from "../../api/values/names.ts";
import { ageText } from "../rules/human-duration.ts";
import { defineKind } from "../rules/kind-rules.ts";
import { ALL_METADATA } from "../rules/metadata-parts.ts";
import { addNew, checkChoice } from "../rules/value-rules.ts";
import {
  checkPolicySpec,
  type ExpressionCheck,
  paramKindText,
  policyDefaults,
  SPEC,
} from "./admission-policy-rules.ts";
import { EXPRESSION_RESULTS } from "./policy-environment.ts";

/** Limits equal upstream's. */
const ANNOTATIONS_MAX = 20;
const VALUE_BYTES_MAX = 5 * 1024;

interface Checks {
  readonly expressions: ExpressionCheck;
  readonly errors: FieldErrors;
}

const REASONS = ["Forbidden", "Invalid", "RequestEntityTooLarge", "Unauthorized"];

export const validatingAdmissionPolicy = defineKind<ValidatingAdmissionPolicy>(
  "admissionregistration.k8s.io/v1",
  "ValidatingAdmissionPolicy",
  {
    defaults: ({ spec }) => policyDefaults(spec),

    validate({ metadata, spec }, errors) {
      const { validations = [], auditAnnotations = [] } = spec;
      const expressions = checkPolicySpec(spec, "decisions", errors);
      if (validations.length + auditAnnotations.length === 0) {
        const detail = "validations or auditAnnotations must contain at least one item";
        errors.required(SPEC.child("validations"), detail);
        errors.required(SPEC.child("auditAnnotations"), detail);
      }
      for (const [i, it] of validations.entries())
        checkValidation(it, SPEC.child("validations").index(i), { expressions, errors });
      checkAnnotations(auditAnnotations, metadata.name ?? "", { expressions, errors });
    },

    statusKeeps: ALL_METADATA,
    validateStatus({ status }, _previous, errors) {
      for (const [i, { type }] of (status.conditions ?? []).entries()) {
        if (type === "") errors.required(fieldPath("status", "conditions").index(i).child("type"));
      }
    },

    cells: (it, now) => [
      it.metadata.name,
      (it.spec.validations ?? []).length,
      paramKindText(it.spec.paramKind),
      ageText(it, now),
    ],
  },
);

function checkValidation(
  { expression, message = "", messageExpression = "", reason }: Validation,
  path: FieldPath,
  { expressions, errors }: Checks,
): void {
  if (expression.trim() === "") errors.required(path.child("expression"), "expression is not specified");
  if (message !== "" && message.trim() === "") {
    errors.invalid(path.child("message"), message, "message must be non-empty if specified");
  }
  if (message.trim().includes("\n")) {
    errors.invalid(path.child("message"), message, "message must not contain line breaks");
  }
  checkChoice({ path: path.child("reason"), value: reason, among: REASONS }, errors);
  expressions.check(expression, EXPRESSION_RESULTS.condition, path.child("expression"));
  if (messageExpression !== "" && messageExpression.trim() === "") {
    const detail = "must be non-empty if specified";
    errors.invalid(path.child("messageExpression"), messageExpression, detail);
  }
  expressions.check(messageExpression, EXPRESSION_RESULTS.message, path.child("messageExpression"));
}

/**
 * The audit log's annotation key joins the policy's name and the annotation's key; the length of both is
 * checked.
 */
function checkAnnotations(
  annotations: readonly AuditAnnotation[],
  policy: string,
  { expressions, errors }: Checks,
): void {
  const keys = new Set<string>();
  if (annotations.length > ANNOTATIONS_MAX) {
    errors.tooMany(SPEC.child("auditAnnotations"), annotations.length, ANNOTATIONS_MAX);
  }
  for (const [i, { key, valueExpression }] of annotations.entries()) {
    const path = SPEC.child("auditAnnotations").index(i);
    if (key === "") errors.required(path.child("key"));
    else {
      const full = policy === "" ? key : `${policy}/${key}`;
      errors.invalidFor(path.child("key"), full, qualifiedName(full));
      if (!addNew(keys, key)) errors.duplicate(path.child("key"), key);
    }
    if (valueExpression.trim() === "") {
      errors.required(path.child("valueExpression"), "valueExpression is not specified");
    }
    if (Buffer.byteLength(valueExpression) > VALUE_BYTES_MAX) {
      errors.tooLong(path.child("valueExpression"), VALUE_BYTES_MAX);
    } else expressions.check(valueExpression, EXPRESSION_RESULTS.annotation, path.child("valueExpression"));
  }
}
