// Made by scripts/generate-facts.mjs. Do not edit.
import type { ResourceType } from "../../api-object.ts";
import type { LabelSelector, ListMeta, StoredMeta } from "./meta-v1.ts";

export interface AggregationRule {
  readonly clusterRoleSelectors?: readonly LabelSelector[];
}

export interface ClusterRole {
  readonly aggregationRule?: AggregationRule;
  readonly apiVersion: "rbac.authorization.k8s.io/v1";
  readonly kind: "ClusterRole";
  readonly metadata: StoredMeta;
  readonly rules: readonly PolicyRule[];
}
export const ClusterRole: ResourceType<ClusterRole> = {
  apiVersion: "rbac.authorization.k8s.io/v1",
  kind: "ClusterRole",
  plural: "clusterroles",
  namespaced: false,
};

export interface ClusterRoleBinding {
  readonly apiVersion: "rbac.authorization.k8s.io/v1";
  readonly kind: "ClusterRoleBinding";
  readonly metadata: StoredMeta;
  readonly roleRef: RoleRef;
  readonly subjects?: readonly Subject[];
}
export const ClusterRoleBinding: ResourceType<ClusterRoleBinding> = {
  apiVersion: "rbac.authorization.k8s.io/v1",
  kind: "ClusterRoleBinding",
  plural: "clusterrolebindings",
  namespaced: false,
};

export interface ClusterRoleBindingList {
  readonly apiVersion: "rbac.authorization.k8s.io/v1";
  readonly items: readonly ClusterRoleBinding[];
  readonly kind: "ClusterRoleBindingList";
  readonly metadata: ListMeta;
}

export interface ClusterRoleList {
  readonly apiVersion: "rbac.authorization.k8s.io/v1";
  readonly items: readonly ClusterRole[];
  readonly kind: "ClusterRoleList";
  readonly metadata: ListMeta;
}

export interface PolicyRule {
  readonly apiGroups?: readonly string[];
  readonly nonResourceURLs?: readonly string[];
  readonly resourceNames?: readonly string[];
  readonly resources?: readonly string[];
  readonly verbs: readonly string[];
}

export interface Role {
  readonly apiVersion: "rbac.authorization.k8s.io/v1";
  readonly kind: "Role";
  readonly metadata: StoredMeta;
  readonly rules: readonly PolicyRule[];
}
export const Role: ResourceType<Role> = {
  apiVersion: "rbac.authorization.k8s.io/v1",
  kind: "Role",
  plural: "roles",
  namespaced: true,
};

export interface RoleBinding {
  readonly apiVersion: "rbac.authorization.k8s.io/v1";
  readonly kind: "RoleBinding";
  readonly metadata: StoredMeta;
  readonly roleRef: RoleRef;
  readonly subjects?: readonly Subject[];
}
export const RoleBinding: ResourceType<RoleBinding> = {
  apiVersion: "rbac.authorization.k8s.io/v1",
  kind: "RoleBinding",
  plural: "rolebindings",
  namespaced: true,
};

export interface RoleBindingList {
  readonly apiVersion: "rbac.authorization.k8s.io/v1";
  readonly items: readonly RoleBinding[];
  readonly kind: "RoleBindingList";
  readonly metadata: ListMeta;
}

export interface RoleList {
  readonly apiVersion: "rbac.authorization.k8s.io/v1";
  readonly items: readonly Role[];
  readonly kind: "RoleList";
  readonly metadata: ListMeta;
}

export interface RoleRef {
  readonly apiGroup: string;
  readonly kind: string;
  readonly name: string;
}

export interface Subject {
  readonly apiGroup?: string;
  readonly kind: string;
  readonly name: string;
  readonly namespace?: string;
}
