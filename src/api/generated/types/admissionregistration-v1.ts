// Made by scripts/generate-facts.mjs. Do not edit.
import type { ResourceType } from "../../api-object.ts";
import type { Condition, LabelSelector, ListMeta, StoredMeta } from "./meta-v1.ts";

export type ApplyConfiguration = {
  readonly expression?: string;
};

export type AuditAnnotation = {
  readonly key: string;
  readonly valueExpression: string;
};

export type ExpressionWarning = {
  readonly fieldRef: string;
  readonly warning: string;
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
  readonly matchPolicy?: "Equivalent" | "Exact";
  readonly namespaceSelector?: LabelSelector;
  readonly objectSelector?: LabelSelector;
  readonly resourceRules?: readonly NamedRuleWithOperations[];
};

export type MutatingAdmissionPolicy = {
  readonly apiVersion: "admissionregistration.k8s.io/v1";
  readonly kind: "MutatingAdmissionPolicy";
  readonly metadata: StoredMeta;
  readonly spec: MutatingAdmissionPolicySpec;
};
export const MutatingAdmissionPolicy: ResourceType<MutatingAdmissionPolicy> = {
  apiVersion: "admissionregistration.k8s.io/v1",
  kind: "MutatingAdmissionPolicy",
  plural: "mutatingadmissionpolicies",
  namespaced: false,
};

export type MutatingAdmissionPolicyBinding = {
  readonly apiVersion: "admissionregistration.k8s.io/v1";
  readonly kind: "MutatingAdmissionPolicyBinding";
  readonly metadata: StoredMeta;
  readonly spec: MutatingAdmissionPolicyBindingSpec;
};
export const MutatingAdmissionPolicyBinding: ResourceType<MutatingAdmissionPolicyBinding> = {
  apiVersion: "admissionregistration.k8s.io/v1",
  kind: "MutatingAdmissionPolicyBinding",
  plural: "mutatingadmissionpolicybindings",
  namespaced: false,
};

export type MutatingAdmissionPolicyBindingList = {
  readonly apiVersion: "admissionregistration.k8s.io/v1";
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
  readonly apiVersion: "admissionregistration.k8s.io/v1";
  readonly items: readonly MutatingAdmissionPolicy[];
  readonly kind: "MutatingAdmissionPolicyList";
  readonly metadata: ListMeta;
};

export type MutatingAdmissionPolicySpec = {
  readonly failurePolicy?: "Fail" | "Ignore";
  readonly matchConditions?: readonly MatchCondition[];
  readonly matchConstraints?: MatchResources;
  readonly mutations?: readonly Mutation[];
  readonly paramKind?: ParamKind;
  readonly reinvocationPolicy?: "IfNeeded" | "Never";
  readonly variables?: readonly Variable[];
};

export type MutatingWebhook = {
  readonly admissionReviewVersions: readonly string[];
  readonly clientConfig: WebhookClientConfig;
  readonly failurePolicy?: "Fail" | "Ignore";
  readonly matchConditions?: readonly MatchCondition[];
  readonly matchPolicy?: "Equivalent" | "Exact";
  readonly name: string;
  readonly namespaceSelector?: LabelSelector;
  readonly objectSelector?: LabelSelector;
  readonly reinvocationPolicy?: "IfNeeded" | "Never";
  readonly rules?: readonly RuleWithOperations[];
  readonly sideEffects: "None" | "NoneOnDryRun" | "Some" | "Unknown";
  readonly timeoutSeconds?: number;
};

export type MutatingWebhookConfiguration = {
  readonly apiVersion: "admissionregistration.k8s.io/v1";
  readonly kind: "MutatingWebhookConfiguration";
  readonly metadata: StoredMeta;
  readonly webhooks?: readonly MutatingWebhook[];
};
export const MutatingWebhookConfiguration: ResourceType<MutatingWebhookConfiguration> = {
  apiVersion: "admissionregistration.k8s.io/v1",
  kind: "MutatingWebhookConfiguration",
  plural: "mutatingwebhookconfigurations",
  namespaced: false,
};

export type MutatingWebhookConfigurationList = {
  readonly apiVersion: "admissionregistration.k8s.io/v1";
  readonly items: readonly MutatingWebhookConfiguration[];
  readonly kind: "MutatingWebhookConfigurationList";
  readonly metadata: ListMeta;
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

export type RuleWithOperations = {
  readonly apiGroups?: readonly string[];
  readonly apiVersions?: readonly string[];
  readonly operations?: readonly ("*" | "CONNECT" | "CREATE" | "DELETE" | "UPDATE")[];
  readonly resources?: readonly string[];
  readonly scope?: "*" | "Cluster" | "Namespaced";
};

export type ServiceReference = {
  readonly name: string;
  readonly namespace: string;
  readonly path?: string;
  readonly port?: number;
};

export type TypeChecking = {
  readonly expressionWarnings?: readonly ExpressionWarning[];
};

export type ValidatingAdmissionPolicy = {
  readonly apiVersion: "admissionregistration.k8s.io/v1";
  readonly kind: "ValidatingAdmissionPolicy";
  readonly metadata: StoredMeta;
  readonly spec: ValidatingAdmissionPolicySpec;
  readonly status: ValidatingAdmissionPolicyStatus;
};
export const ValidatingAdmissionPolicy: ResourceType<ValidatingAdmissionPolicy> = {
  apiVersion: "admissionregistration.k8s.io/v1",
  kind: "ValidatingAdmissionPolicy",
  plural: "validatingadmissionpolicies",
  namespaced: false,
};

export type ValidatingAdmissionPolicyBinding = {
  readonly apiVersion: "admissionregistration.k8s.io/v1";
  readonly kind: "ValidatingAdmissionPolicyBinding";
  readonly metadata: StoredMeta;
  readonly spec: ValidatingAdmissionPolicyBindingSpec;
};
export const ValidatingAdmissionPolicyBinding: ResourceType<ValidatingAdmissionPolicyBinding> = {
  apiVersion: "admissionregistration.k8s.io/v1",
  kind: "ValidatingAdmissionPolicyBinding",
  plural: "validatingadmissionpolicybindings",
  namespaced: false,
};

export type ValidatingAdmissionPolicyBindingList = {
  readonly apiVersion: "admissionregistration.k8s.io/v1";
  readonly items: readonly ValidatingAdmissionPolicyBinding[];
  readonly kind: "ValidatingAdmissionPolicyBindingList";
  readonly metadata: ListMeta;
};

export type ValidatingAdmissionPolicyBindingSpec = {
  readonly matchResources?: MatchResources;
  readonly paramRef?: ParamRef;
  readonly policyName?: string;
  readonly validationActions?: readonly ("Audit" | "Deny" | "Warn")[];
};

export type ValidatingAdmissionPolicyList = {
  readonly apiVersion: "admissionregistration.k8s.io/v1";
  readonly items: readonly ValidatingAdmissionPolicy[];
  readonly kind: "ValidatingAdmissionPolicyList";
  readonly metadata: ListMeta;
};

export type ValidatingAdmissionPolicySpec = {
  readonly auditAnnotations?: readonly AuditAnnotation[];
  readonly failurePolicy?: "Fail" | "Ignore";
  readonly matchConditions?: readonly MatchCondition[];
  readonly matchConstraints?: MatchResources;
  readonly paramKind?: ParamKind;
  readonly validations?: readonly Validation[];
  readonly variables?: readonly Variable[];
};

export type ValidatingAdmissionPolicyStatus = {
  readonly conditions?: readonly Condition[];
  readonly observedGeneration?: number;
  readonly typeChecking?: TypeChecking;
};

export type ValidatingWebhook = {
  readonly admissionReviewVersions: readonly string[];
  readonly clientConfig: WebhookClientConfig;
  readonly failurePolicy?: "Fail" | "Ignore";
  readonly matchConditions?: readonly MatchCondition[];
  readonly matchPolicy?: "Equivalent" | "Exact";
  readonly name: string;
  readonly namespaceSelector?: LabelSelector;
  readonly objectSelector?: LabelSelector;
  readonly rules?: readonly RuleWithOperations[];
  readonly sideEffects: "None" | "NoneOnDryRun" | "Some" | "Unknown";
  readonly timeoutSeconds?: number;
};

export type ValidatingWebhookConfiguration = {
  readonly apiVersion: "admissionregistration.k8s.io/v1";
  readonly kind: "ValidatingWebhookConfiguration";
  readonly metadata: StoredMeta;
  readonly webhooks?: readonly ValidatingWebhook[];
};
export const ValidatingWebhookConfiguration: ResourceType<ValidatingWebhookConfiguration> = {
  apiVersion: "admissionregistration.k8s.io/v1",
  kind: "ValidatingWebhookConfiguration",
  plural: "validatingwebhookconfigurations",
  namespaced: false,
};

export type ValidatingWebhookConfigurationList = {
  readonly apiVersion: "admissionregistration.k8s.io/v1";
  readonly items: readonly ValidatingWebhookConfiguration[];
  readonly kind: "ValidatingWebhookConfigurationList";
  readonly metadata: ListMeta;
};

export type Validation = {
  readonly expression: string;
  readonly message?: string;
  readonly messageExpression?: string;
  readonly reason?: string;
};

export type Variable = {
  readonly expression: string;
  readonly name: string;
};

export type WebhookClientConfig = {
  readonly caBundle?: string;
  readonly service?: ServiceReference;
  readonly url?: string;
};
