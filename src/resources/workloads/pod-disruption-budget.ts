import { fieldPath } from "../../api/errors/field-error.ts";
import type { PodDisruptionBudget } from "../../api/generated/types/policy-v1.ts";
import { validateLabelSelector } from "../../api/selectors/label-selector.ts";
import { checkConditions } from "../rules/condition-rules.ts";
import { ageText } from "../rules/human-duration.ts";
import { defineKind } from "../rules/kind-rules.ts";
import { isSelectorValueError } from "../rules/tolerated-errors.ts";
import { checkAtMostAll, checkChoice, checkCounts, checkIntOrPercent } from "../rules/value-rules.ts";

const EVICTION_POLICIES = ["AlwaysAllow", "IfHealthyBudget"];

export const podDisruptionBudget = defineKind<PodDisruptionBudget>("policy/v1", "PodDisruptionBudget", {
  validate({ spec }, errors) {
    const path = fieldPath("spec");
    if (spec.minAvailable !== undefined && spec.maxUnavailable !== undefined) {
      errors.invalid(path, spec, "minAvailable and maxUnavailable cannot be both set");
    }
    for (const name of ["minAvailable", "maxUnavailable"] as const) {
      checkIntOrPercent(spec[name], path.child(name), errors);
      checkAtMostAll(spec[name], path.child(name), errors);
    }
    if (spec.selector !== undefined) validateLabelSelector(spec.selector, path.child("selector"), errors);
    const policy = path.child("unhealthyPodEvictionPolicy");
    checkChoice({ path: policy, value: spec.unhealthyPodEvictionPolicy, among: EVICTION_POLICIES }, errors);
  },

  tolerates: isSelectorValueError,

  validateStatus({ status }, _previous, errors) {
    checkConditions(status.conditions ?? [], fieldPath("status", "conditions"), errors);
    const names = ["disruptionsAllowed", "currentHealthy", "desiredHealthy", "expectedPods"] as const;
    checkCounts(status, names, { path: fieldPath("status"), errors });
  },

  cells(object, now) {
    const { spec, status } = object;
    return [
      object.metadata.name,
      String(spec.minAvailable ?? "N/A"),
      String(spec.maxUnavailable ?? "N/A"),
      status.disruptionsAllowed,
      ageText(object, now),
    ];
  },
});
