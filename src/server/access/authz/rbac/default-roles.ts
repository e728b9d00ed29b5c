/**
 * The default roles and bindings of every cluster: upstream's, and the few that this project's controllers need in
 * addition.
 */
import { ROLES_TEXT } from "../../../../api/generated/roles.ts";
import type {
  ClusterRole,
  ClusterRoleBinding,
  PolicyRule,
  Role,
  RoleBinding,
} from "../../../../api/generated/types/rbac-v1.ts";
import { OWN_ROLES } from "./own-roles.ts";
import type { Unstored } from "./unstored.ts";

export type DefaultRole =
  | Unstored<Role>
  | Unstored<ClusterRole>
  | Unstored<RoleBinding>
  | Unstored<ClusterRoleBinding>;

/** An aggregated role has no rules in the facts. */
type Fact =
  | Exclude<DefaultRole, Unstored<ClusterRole>>
  | (Omit<Unstored<ClusterRole>, "rules"> & { readonly rules: ClusterRole["rules"] | null });

let upstream: readonly DefaultRole[] | undefined;

/** Parsed on first use: parsing takes a millisecond. */
export function defaultRoles(): readonly DefaultRole[] {
  upstream ??= Object.values(JSON.parse(ROLES_TEXT) as Record<string, readonly Fact[]>)
    .flat()
    .map((fact) => (fact.kind === "ClusterRole" ? { ...fact, rules: fact.rules ?? [] } : fact));
  return [...upstream, ...OWN_ROLES];
}

let ofNodes: readonly PolicyRule[] | undefined;

/** Rules of the unmodified role `system:node`. */
export function nodeRules(): readonly PolicyRule[] {
  ofNodes ??= defaultRoles().flatMap((role) =>
    role.kind === "ClusterRole" && role.metadata.name === "system:node" ? role.rules : [],
  );
  return ofNodes;
}
