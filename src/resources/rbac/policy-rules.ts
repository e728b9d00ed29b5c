/** What a rule of a Role or ClusterRole must say. */

import type { FieldErrors, FieldPath } from "../../api/field-error.ts";
import type { PolicyRule } from "../../api/generated/types/rbac-v1.ts";

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
