// Made by scripts/generate-facts.mjs. Do not edit.
import type { ResourceType } from "../../api-object.ts";
import type { LabelSelector, ListMeta, StoredMeta } from "./meta-v1.ts";

export type AggregationRule = {
  readonly clusterRoleSelectors?: readonly LabelSelector[];
};

export type ClusterRole = {
  readonly aggregationRule?: AggregationRule;
  readonly apiVersion: "rbac.authorization.k8s.io/v1";
  readonly kind: "ClusterRole";
  readonly metadata: StoredMeta;
  readonly rules: readonly PolicyRule[];
};
export const ClusterRole: ResourceType<ClusterRole> = {
  apiVersion: "rbac.authorization.k8s.io/v1",
  kind: "ClusterRole",
  plural: "clusterroles",
  namespaced: false,
};

export type ClusterRoleBinding = {
  readonly apiVersion: "rbac.authorization.k8s.io/v1";
  readonly kind: "ClusterRoleBinding";
  readonly metadata: StoredMeta;
  readonly roleRef: RoleRef;
  readonly subjects?: readonly Subject[];
};
export const ClusterRoleBinding: ResourceType<ClusterRoleBinding> = {
  apiVersion: "rbac.authorization.k8s.io/v1",
  kind: "ClusterRoleBinding",
  plural: "clusterrolebindings",
  namespaced: false,
};

export type ClusterRoleBindingList = {
  readonly apiVersion: "rbac.authorization.k8s.io/v1";
  readonly items: readonly ClusterRoleBinding[];
  readonly kind: "ClusterRoleBindingList";
  readonly metadata: ListMeta;
};

export type ClusterRoleList = {
  readonly apiVersion: "rbac.authorization.k8s.io/v1";
  readonly items: readonly ClusterRole[];
  readonly kind: "ClusterRoleList";
  readonly metadata: ListMeta;
};

export type PolicyRule = {
  readonly apiGroups?: readonly string[];
  readonly nonResourceURLs?: readonly string[];
  readonly resourceNames?: readonly string[];
  readonly resources?: readonly string[];
  readonly verbs: readonly string[];
};

export type Role = {
  readonly apiVersion: "rbac.authorization.k8s.io/v1";
  readonly kind: "Role";
  readonly metadata: StoredMeta;
  readonly rules: readonly PolicyRule[];
};
export const Role: ResourceType<Role> = {
  apiVersion: "rbac.authorization.k8s.io/v1",
  kind: "Role",
  plural: "roles",
  namespaced: true,
};

export type RoleBinding = {
  readonly apiVersion: "rbac.authorization.k8s.io/v1";
  readonly kind: "RoleBinding";
  readonly metadata: StoredMeta;
  readonly roleRef: RoleRef;
  readonly subjects?: readonly Subject[];
};
export const RoleBinding: ResourceType<RoleBinding> = {
  apiVersion: "rbac.authorization.k8s.io/v1",
  kind: "RoleBinding",
  plural: "rolebindings",
  namespaced: true,
};

export type RoleBindingList = {
  readonly apiVersion: "rbac.authorization.k8s.io/v1";
  readonly items: readonly RoleBinding[];
  readonly kind: "RoleBindingList";
  readonly metadata: ListMeta;
};

export type RoleList = {
  readonly apiVersion: "rbac.authorization.k8s.io/v1";
  readonly items: readonly Role[];
  readonly kind: "RoleList";
  readonly metadata: ListMeta;
};

export type RoleRef = {
  readonly apiGroup: string;
  readonly kind: string;
  readonly name: string;
};

export type Subject = {
  readonly apiGroup?: string;
  readonly kind: string;
  readonly name: string;
  readonly namespace?: string;
};
