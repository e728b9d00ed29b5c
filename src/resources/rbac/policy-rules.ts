/** Validates a rule of a Role or ClusterRole. */

import { fieldPath } from "../../api/errors/field-error.ts";
import type { FieldErrors, FieldPath } from "../../api/errors/field-error.ts";
import type { PolicyRule } from "../../api/generated/types/rbac-v1.ts";

/** Bound of each list of a rule: every check of a request walks or indexes these lists. Upstream has none. */
const ENTRIES_MAX = 10_000;

export type RoleScope = "Namespaced" | "Cluster";

export function checkPolicyRule(
  rule: PolicyRule,
  { scope, path }: { readonly scope: RoleScope; readonly path: FieldPath },
  errors: FieldErrors,
): void {
  const { apiGroups = [], resources = [], resourceNames = [], nonResourceURLs = [] } = rule;
  if (rule.verbs.length === 0) errors.required(path.child("verbs"), "verbs must contain at least one value");
  if (nonResourceURLs.length > 0) {
    const urls = path.child("nonResourceURLs");
    if (scope === "Namespaced") {
      errors.invalid(urls, nonResourceURLs, "namespaced rules cannot apply to non-resource URLs");
    }
    if (apiGroups.length + resources.length + resourceNames.length > 0) {
      const detail = "rules cannot apply to both regular resources and non-resource URLs";
      errors.invalid(urls, nonResourceURLs, detail);
    }
    return;
  }
  if (apiGroups.length === 0) {
    errors.required(path.child("apiGroups"), "resource rules must supply at least one api group");
  }
  if (resources.length === 0) {
    errors.required(path.child("resources"), "resource rules must supply at least one resource");
  }
}

/** For rules that are new or changed: a role that was stored before the bound existed can still be labelled and deleted. */
export function checkRuleSizes(rules: readonly PolicyRule[], errors: FieldErrors): void {
  for (const [i, rule] of rules.entries())
    for (const [name, list] of Object.entries(rule) as [string, readonly string[]][])
      if (list.length > ENTRIES_MAX)
        errors.tooMany(fieldPath("rules").index(i).child(name), list.length, ENTRIES_MAX);
}
