/** The roles and bindings that every cluster has: upstream's, which are facts, and the few that loops of this project need beyond them. */
import { ROLES_TEXT } from "../../../../api/generated/roles.ts";
import type {
  ClusterRole,
  ClusterRoleBinding,
  PolicyRule,
  Role,
  RoleBinding,
} from "../../../../api/generated/types/rbac-v1.ts";
import { OWN_ROLES } from "./own-roles.ts";

export type DefaultRole = Role | ClusterRole | RoleBinding | ClusterRoleBinding;

/** A role that gathers others is given without rules. */
type Fact =
  | Exclude<DefaultRole, ClusterRole>
  | (Omit<ClusterRole, "rules"> & { readonly rules: ClusterRole["rules"] | null });

let upstream: readonly DefaultRole[] | undefined;

/** Read when first asked for: it takes a millisecond. */
export function defaultRoles(): readonly DefaultRole[] {
  upstream ??= Object.values(JSON.parse(ROLES_TEXT) as Record<string, readonly Fact[]>)
    .flat()
    .map((fact) => (fact.kind === "ClusterRole" ? { ...fact, rules: fact.rules ?? [] } : fact));
  return [...upstream, ...OWN_ROLES];
}

let ofNodes: readonly PolicyRule[] | undefined;

/** Of the role `system:node`, as it is when nobody has changed it. */
export function nodeRules(): readonly PolicyRule[] {
  ofNodes ??= defaultRoles().flatMap((role) =>
    role.kind === "ClusterRole" && role.metadata.name === "system:node" ? role.rules : [],
  );
  return ofNodes;
}
