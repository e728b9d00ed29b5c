/** MutatingAdmissionPolicy: CEL expressions that change objects before they are stored. */

import type { FieldErrors, FieldPath } from "../../api/errors/field-error.ts";
import type {
  MutatingAdmissionPolicy,
  Mutation,
} from "../../api/generated/types/admissionregistration-v1.ts";
import { ageText } from "../rules/human-duration.ts";
import { defineKind } from "../rules/kind-rules.ts";
import { checkRequiredChoice } from "../rules/value-rules.ts";
import {
  checkPolicySpec,
  type ExpressionCheck,
  paramKindText,
  policyDefaults,
  SPEC,
} from "./admission-policy-rules.ts";
import { EXPRESSION_RESULTS } from "./policy-environment.ts";

export const mutatingAdmissionPolicy = defineKind<MutatingAdmissionPolicy>(
  "admissionregistration.k8s.io/v1",
  "MutatingAdmissionPolicy",
  {
    defaults: ({ spec }) => policyDefaults(spec),

    validate({ spec }, errors) {
      const { mutations = [], reinvocationPolicy } = spec;
      const expressions = checkPolicySpec(spec, "patches", errors);
      const path = SPEC.child("mutations");
      if (mutations.length === 0) errors.required(path, "mutations must contain at least one item");
      for (const [i, mutation] of mutations.entries()) {
        checkMutation(mutation, path.index(i), errors);
        checkExpressions(mutation, path.index(i), expressions);
      }
      const among = ["IfNeeded", "Never"];
      checkRequiredChoice(
        { path: SPEC.child("reinvocationPolicy"), value: reinvocationPolicy, among },
        errors,
      );
    },

    cells: (it, now) => [
      it.metadata.name,
      (it.spec.mutations ?? []).length,
      paramKindText(it.spec.paramKind),
      ageText(it, now),
    ],
  },
);

function checkExpressions(
  { patchType, applyConfiguration, jsonPatch }: Mutation,
  path: FieldPath,
  expressions: ExpressionCheck,
): void {
  const isPatch = patchType === "JSONPatch";
  const [name, part] = isPatch
    ? (["jsonPatch", jsonPatch] as const)
    : (["applyConfiguration", applyConfiguration] as const);
  const wanted = isPatch ? EXPRESSION_RESULTS.patch : EXPRESSION_RESULTS.configuration;
  expressions.check(part?.expression ?? "", wanted, path.child(name, "expression"));
}

function checkMutation(
  { patchType, applyConfiguration, jsonPatch }: Mutation,
  path: FieldPath,
  errors: FieldErrors,
): void {
  const among = ["ApplyConfiguration", "JSONPatch"];
  checkRequiredChoice({ path: path.child("patchType"), value: patchType, among }, errors);
  const [own, other] =
    patchType === "JSONPatch"
      ? ([
          ["jsonPatch", jsonPatch],
          ["applyConfiguration", applyConfiguration],
        ] as const)
      : ([
          ["applyConfiguration", applyConfiguration],
          ["jsonPatch", jsonPatch],
        ] as const);
  if (!among.includes(patchType)) return;
  const [name, value] = own;
  if (value === undefined)
    errors.required(path.child(name), `must be specified when patchType is ${patchType}`);
  else if ((value.expression ?? "").trim() === "") {
    errors.required(path.child(name, "expression"), "expression is not specified");
  }
  if (other[1] !== undefined) {
    errors.invalid(path.child(other[0]), "{}", `must not be specified when patchType is ${patchType}`);
  }
}
