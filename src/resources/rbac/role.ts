/** Role: permissions in one namespace. */

import { fieldPath } from "../../api/errors/field-error.ts";
import type { Role } from "../../api/generated/types/rbac-v1.ts";
import { pathSegmentName } from "../../api/values/names.ts";
import { defineKind } from "../rules/kind-rules.ts";
import { isSame } from "../rules/value-rules.ts";
import { checkPolicyRule, checkRuleSizes } from "./policy-rules.ts";

export const role = defineKind<Role>("rbac.authorization.k8s.io/v1", "Role", {
  nameRule: pathSegmentName,

  validateCreate: ({ rules }, errors) => checkRuleSizes(rules, errors),

  validateUpdate(next, previous, errors) {
    if (!isSame(next.rules, previous.rules)) checkRuleSizes(next.rules, errors);
  },

  validate({ rules }, errors) {
    for (const [i, rule] of rules.entries()) {
      checkPolicyRule(rule, { scope: "Namespaced", path: fieldPath("rules").index(i) }, errors);
    }
  },
});
