/** RoleBinding: grants a role to subjects in one namespace. */

import type { RoleBinding } from "../../api/generated/types/rbac-v1.ts";
import { pathSegmentName } from "../../api/values/names.ts";
import { defineKind } from "../rules/kind-rules.ts";
import { bindingCells, bindingDefaults, checkBinding, checkSameRole } from "./binding-rules.ts";

export const roleBinding = defineKind<RoleBinding>("rbac.authorization.k8s.io/v1", "RoleBinding", {
  nameRule: pathSegmentName,
  defaults: bindingDefaults,
  validate: (it, errors) => checkBinding(it, "Namespaced", errors),
  validateUpdate: checkSameRole,
  cells: bindingCells,
});
