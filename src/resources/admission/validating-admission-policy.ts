/** ValidatingAdmissionPolicy: expressions that must hold for what is stored. */

import { type FieldErrors, type FieldPath, fieldPath } from "../../api/field-error.ts";
import type {
  AuditAnnotation,
  ValidatingAdmissionPolicy,
  Validation,
} from "../../api/generated/types/admissionregistration-v1.ts";
import { ageText } from "../human-duration.ts";
import { defineKind } from "../kind-rules.ts";
import { addNew, checkChoice } from "../value-rules.ts";
import { checkPolicySpec, paramKindText, policyDefaults, SPEC } from "./policy-rules.ts";

const REASONS = ["Forbidden", "Invalid", "RequestEntityTooLarge", "Unauthorized"];

export const validatingAdmissionPolicy = defineKind<ValidatingAdmissionPolicy>(
  "admissionregistration.k8s.io/v1",
  "ValidatingAdmissionPolicy",
  {
    defaults: ({ spec }) => policyDefaults(spec),

    validate({ spec }, errors) {
      const { validations = [], auditAnnotations = [] } = spec;
      checkPolicySpec(spec, errors);
      if (validations.length + auditAnnotations.length === 0) {
        const detail = "validations or auditAnnotations must contain at least one item";
        errors.required(SPEC.child("validations"), detail);
        errors.required(SPEC.child("auditAnnotations"), detail);
      }
      for (const [i, it] of validations.entries())
        checkValidation(it, SPEC.child("validations").index(i), errors);
      checkAnnotations(auditAnnotations, errors);
    },

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
  { expression, message = "", reason }: Validation,
  path: FieldPath,
  errors: FieldErrors,
): void {
  if (expression.trim() === "") errors.required(path.child("expression"), "expression is not specified");
  if (message !== "" && message.trim() === "") {
    errors.invalid(path.child("message"), message, "message must be non-empty if specified");
  }
  if (message.trim().includes("\n")) {
    errors.invalid(path.child("message"), message, "message must not contain line breaks");
  }
  checkChoice({ path: path.child("reason"), value: reason, among: REASONS }, errors);
}

function checkAnnotations(annotations: readonly AuditAnnotation[], errors: FieldErrors): void {
  const keys = new Set<string>();
  for (const [i, { key, valueExpression }] of annotations.entries()) {
    const path = SPEC.child("auditAnnotations").index(i);
    if (key === "") errors.required(path.child("key"));
    else if (!addNew(keys, key)) errors.duplicate(path.child("key"), key);
    if (valueExpression.trim() === "") {
      errors.required(path.child("valueExpression"), "valueExpression is not specified");
    }
  }
}
