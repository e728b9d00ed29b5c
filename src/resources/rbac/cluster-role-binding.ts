/** ClusterRoleBinding: grants a role to subjects in the whole cluster. */

import type { ClusterRoleBinding } from "../../api/generated/types/rbac-v1.ts";
import { pathSegmentName } from "../../api/values/names.ts";
import { defineKind } from "../rules/kind-rules.ts";
import { bindingCells, bindingDefaults, checkBinding, checkSameRole } from "./binding-rules.ts";

export const clusterRoleBinding = defineKind<ClusterRoleBinding>(
  "rbac.authorization.k8s.io/v1",
  "ClusterRoleBinding",
  {
    nameRule: pathSegmentName,
    defaults: bindingDefaults,
    validate: (it, errors) => checkBinding(it, "Cluster", errors),
    validateUpdate: checkSameRole,
    cells: bindingCells,
  },
);
