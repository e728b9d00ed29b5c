/** Role: what may be done in one namespace. */

import { fieldPath } from "../../api/field-error.ts";
import type { Role } from "../../api/generated/types/rbac-v1.ts";
import { pathSegmentName } from "../../api/names.ts";
import { defineKind } from "../kind-rules.ts";
import { checkPolicyRule } from "./policy-rules.ts";

export const role = defineKind<Role>("rbac.authorization.k8s.io/v1", "Role", {
  nameRule: pathSegmentName,

  validate({ rules }, errors) {
    for (const [i, rule] of rules.entries()) {
      checkPolicyRule(rule, { scope: "Namespaced", path: fieldPath("rules").index(i) }, errors);
    }
  },
});
