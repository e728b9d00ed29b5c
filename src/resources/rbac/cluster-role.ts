/** ClusterRole: permissions in the whole cluster, or in the namespace of each RoleBinding to it. */

import { fieldPath } from "../../api/errors/field-error.ts";
import type { ClusterRole } from "../../api/generated/types/rbac-v1.ts";
import { validateLabelSelector } from "../../api/selectors/label-selector.ts";
import { pathSegmentName } from "../../api/values/names.ts";
import { defineKind } from "../rules/kind-rules.ts";
import { isSelectorValueError } from "../rules/tolerated-errors.ts";
import { isSame } from "../rules/value-rules.ts";
import { checkPolicyRule, checkRuleSizes } from "./policy-rules.ts";

export const clusterRole = defineKind<ClusterRole>("rbac.authorization.k8s.io/v1", "ClusterRole", {
  nameRule: pathSegmentName,

  validateCreate: ({ rules }, errors) => checkRuleSizes(rules, errors),

  validateUpdate(next, previous, errors) {
    if (!isSame(next.rules, previous.rules)) checkRuleSizes(next.rules, errors);
  },

  validate({ rules, aggregationRule }, errors) {
    for (const [i, rule] of rules.entries()) {
      checkPolicyRule(rule, { scope: "Cluster", path: fieldPath("rules").index(i) }, errors);
    }
    if (aggregationRule === undefined) return;
    const path = fieldPath("aggregationRule", "clusterRoleSelectors");
    const { clusterRoleSelectors = [] } = aggregationRule;
    if (clusterRoleSelectors.length === 0) {
      errors.required(path, "at least one clusterRoleSelector required if aggregationRule is non-nil");
    }
    for (const [i, selector] of clusterRoleSelectors.entries()) {
      validateLabelSelector(selector, path.index(i), errors);
    }
  },

  tolerates: isSelectorValueError,
});
