// Made by scripts/generate-facts.mjs. Do not edit.
import type { ResourceType } from "../../api-object.ts";
import type { LabelSelector, ListMeta, StoredMeta } from "./meta-v1.ts";

export type ApplyConfiguration = {
  readonly expression?: string;
};

export type JSONPatch = {
  readonly expression?: string;
};

export type MatchCondition = {
  readonly expression: string;
  readonly name: string;
};

export type MatchResources = {
  readonly excludeResourceRules?: readonly NamedRuleWithOperations[];
  readonly matchPolicy?: string;
  readonly namespaceSelector?: LabelSelector;
  readonly objectSelector?: LabelSelector;
  readonly resourceRules?: readonly NamedRuleWithOperations[];
};

export type MutatingAdmissionPolicy = {
  readonly apiVersion: "admissionregistration.k8s.io/v1beta1";
  readonly kind: "MutatingAdmissionPolicy";
  readonly metadata: StoredMeta;
  readonly spec: MutatingAdmissionPolicySpec;
};
export const MutatingAdmissionPolicy: ResourceType<MutatingAdmissionPolicy> = {
  apiVersion: "admissionregistration.k8s.io/v1beta1",
  kind: "MutatingAdmissionPolicy",
  plural: "mutatingadmissionpolicies",
  namespaced: false,
};

export type MutatingAdmissionPolicyBinding = {
  readonly apiVersion: "admissionregistration.k8s.io/v1beta1";
  readonly kind: "MutatingAdmissionPolicyBinding";
  readonly metadata: StoredMeta;
  readonly spec: MutatingAdmissionPolicyBindingSpec;
};
export const MutatingAdmissionPolicyBinding: ResourceType<MutatingAdmissionPolicyBinding> = {
  apiVersion: "admissionregistration.k8s.io/v1beta1",
  kind: "MutatingAdmissionPolicyBinding",
  plural: "mutatingadmissionpolicybindings",
  namespaced: false,
};

export type MutatingAdmissionPolicyBindingList = {
  readonly apiVersion: "admissionregistration.k8s.io/v1beta1";
  readonly items: readonly MutatingAdmissionPolicyBinding[];
  readonly kind: "MutatingAdmissionPolicyBindingList";
  readonly metadata: ListMeta;
};

export type MutatingAdmissionPolicyBindingSpec = {
  readonly matchResources?: MatchResources;
  readonly paramRef?: ParamRef;
  readonly policyName?: string;
};

export type MutatingAdmissionPolicyList = {
  readonly apiVersion: "admissionregistration.k8s.io/v1beta1";
  readonly items: readonly MutatingAdmissionPolicy[];
  readonly kind: "MutatingAdmissionPolicyList";
  readonly metadata: ListMeta;
};

export type MutatingAdmissionPolicySpec = {
  readonly failurePolicy?: string;
  readonly matchConditions?: readonly MatchCondition[];
  readonly matchConstraints?: MatchResources;
  readonly mutations?: readonly Mutation[];
  readonly paramKind?: ParamKind;
  readonly reinvocationPolicy?: string;
  readonly variables?: readonly Variable[];
};

export type Mutation = {
  readonly applyConfiguration?: ApplyConfiguration;
  readonly jsonPatch?: JSONPatch;
  readonly patchType: "ApplyConfiguration" | "JSONPatch";
};

export type NamedRuleWithOperations = {
  readonly apiGroups?: readonly string[];
  readonly apiVersions?: readonly string[];
  readonly operations?: readonly ("*" | "CONNECT" | "CREATE" | "DELETE" | "UPDATE")[];
  readonly resourceNames?: readonly string[];
  readonly resources?: readonly string[];
  readonly scope?: "*" | "Cluster" | "Namespaced";
};

export type ParamKind = {
  readonly apiVersion?: string;
  readonly kind?: string;
};

export type ParamRef = {
  readonly name?: string;
  readonly namespace?: string;
  readonly parameterNotFoundAction?: string;
  readonly selector?: LabelSelector;
};

export type Variable = {
  readonly expression: string;
  readonly name: string;
};
