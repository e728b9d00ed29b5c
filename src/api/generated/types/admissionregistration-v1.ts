// Made by scripts/generate-facts.mjs. Do not edit.
import type { ResourceType } from "../../api-object.ts";
import type { Condition, LabelSelector, ListMeta, StoredMeta } from "./meta-v1.ts";

export interface ApplyConfiguration {
  readonly expression?: string;
}

export interface AuditAnnotation {
  readonly key: string;
  readonly valueExpression: string;
}

export interface ExpressionWarning {
  readonly fieldRef: string;
  readonly warning: string;
}

export interface JSONPatch {
  readonly expression?: string;
}

export interface MatchCondition {
  readonly expression: string;
  readonly name: string;
}

export interface MatchResources {
  readonly excludeResourceRules?: readonly NamedRuleWithOperations[];
  readonly matchPolicy?: "Equivalent" | "Exact";
  readonly namespaceSelector?: LabelSelector;
  readonly objectSelector?: LabelSelector;
  readonly resourceRules?: readonly NamedRuleWithOperations[];
}

export interface MutatingAdmissionPolicy {
  readonly apiVersion: "admissionregistration.k8s.io/v1";
  readonly kind: "MutatingAdmissionPolicy";
  readonly metadata: StoredMeta;
  readonly spec: MutatingAdmissionPolicySpec;
}
export const MutatingAdmissionPolicy: ResourceType<MutatingAdmissionPolicy> = {
  apiVersion: "admissionregistration.k8s.io/v1",
  kind: "MutatingAdmissionPolicy",
  plural: "mutatingadmissionpolicies",
  namespaced: false,
};

export interface MutatingAdmissionPolicyBinding {
  readonly apiVersion: "admissionregistration.k8s.io/v1";
  readonly kind: "MutatingAdmissionPolicyBinding";
  readonly metadata: StoredMeta;
  readonly spec: MutatingAdmissionPolicyBindingSpec;
}
export const MutatingAdmissionPolicyBinding: ResourceType<MutatingAdmissionPolicyBinding> = {
  apiVersion: "admissionregistration.k8s.io/v1",
  kind: "MutatingAdmissionPolicyBinding",
  plural: "mutatingadmissionpolicybindings",
  namespaced: false,
};

export interface MutatingAdmissionPolicyBindingList {
  readonly apiVersion: "admissionregistration.k8s.io/v1";
  readonly items: readonly MutatingAdmissionPolicyBinding[];
  readonly kind: "MutatingAdmissionPolicyBindingList";
  readonly metadata: ListMeta;
}

export interface MutatingAdmissionPolicyBindingSpec {
  readonly matchResources?: MatchResources;
  readonly paramRef?: ParamRef;
  readonly policyName?: string;
}

export interface MutatingAdmissionPolicyList {
  readonly apiVersion: "admissionregistration.k8s.io/v1";
  readonly items: readonly MutatingAdmissionPolicy[];
  readonly kind: "MutatingAdmissionPolicyList";
  readonly metadata: ListMeta;
}

export interface MutatingAdmissionPolicySpec {
  readonly failurePolicy?: "Fail" | "Ignore";
  readonly matchConditions?: readonly MatchCondition[];
  readonly matchConstraints?: MatchResources;
  readonly mutations?: readonly Mutation[];
  readonly paramKind?: ParamKind;
  readonly reinvocationPolicy?: "IfNeeded" | "Never";
  readonly variables?: readonly Variable[];
}

export interface MutatingWebhook {
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
}

export interface MutatingWebhookConfiguration {
  readonly apiVersion: "admissionregistration.k8s.io/v1";
  readonly kind: "MutatingWebhookConfiguration";
  readonly metadata: StoredMeta;
  readonly webhooks?: readonly MutatingWebhook[];
}
export const MutatingWebhookConfiguration: ResourceType<MutatingWebhookConfiguration> = {
  apiVersion: "admissionregistration.k8s.io/v1",
  kind: "MutatingWebhookConfiguration",
  plural: "mutatingwebhookconfigurations",
  namespaced: false,
};

export interface MutatingWebhookConfigurationList {
  readonly apiVersion: "admissionregistration.k8s.io/v1";
  readonly items: readonly MutatingWebhookConfiguration[];
  readonly kind: "MutatingWebhookConfigurationList";
  readonly metadata: ListMeta;
}

export interface Mutation {
  readonly applyConfiguration?: ApplyConfiguration;
  readonly jsonPatch?: JSONPatch;
  readonly patchType: "ApplyConfiguration" | "JSONPatch";
}

export interface NamedRuleWithOperations {
  readonly apiGroups?: readonly string[];
  readonly apiVersions?: readonly string[];
  readonly operations?: readonly ("*" | "CONNECT" | "CREATE" | "DELETE" | "UPDATE")[];
  readonly resourceNames?: readonly string[];
  readonly resources?: readonly string[];
  readonly scope?: "*" | "Cluster" | "Namespaced";
}

export interface ParamKind {
  readonly apiVersion?: string;
  readonly kind?: string;
}

export interface ParamRef {
  readonly name?: string;
  readonly namespace?: string;
  readonly parameterNotFoundAction?: string;
  readonly selector?: LabelSelector;
}

export interface RuleWithOperations {
  readonly apiGroups?: readonly string[];
  readonly apiVersions?: readonly string[];
  readonly operations?: readonly ("*" | "CONNECT" | "CREATE" | "DELETE" | "UPDATE")[];
  readonly resources?: readonly string[];
  readonly scope?: "*" | "Cluster" | "Namespaced";
}

export interface ServiceReference {
  readonly name: string;
  readonly namespace: string;
  readonly path?: string;
  readonly port?: number;
}

export interface TypeChecking {
  readonly expressionWarnings?: readonly ExpressionWarning[];
}

export interface ValidatingAdmissionPolicy {
  readonly apiVersion: "admissionregistration.k8s.io/v1";
  readonly kind: "ValidatingAdmissionPolicy";
  readonly metadata: StoredMeta;
  readonly spec: ValidatingAdmissionPolicySpec;
  readonly status: ValidatingAdmissionPolicyStatus;
}
export const ValidatingAdmissionPolicy: ResourceType<ValidatingAdmissionPolicy> = {
  apiVersion: "admissionregistration.k8s.io/v1",
  kind: "ValidatingAdmissionPolicy",
  plural: "validatingadmissionpolicies",
  namespaced: false,
};

export interface ValidatingAdmissionPolicyBinding {
  readonly apiVersion: "admissionregistration.k8s.io/v1";
  readonly kind: "ValidatingAdmissionPolicyBinding";
  readonly metadata: StoredMeta;
  readonly spec: ValidatingAdmissionPolicyBindingSpec;
}
export const ValidatingAdmissionPolicyBinding: ResourceType<ValidatingAdmissionPolicyBinding> = {
  apiVersion: "admissionregistration.k8s.io/v1",
  kind: "ValidatingAdmissionPolicyBinding",
  plural: "validatingadmissionpolicybindings",
  namespaced: false,
};

export interface ValidatingAdmissionPolicyBindingList {
  readonly apiVersion: "admissionregistration.k8s.io/v1";
  readonly items: readonly ValidatingAdmissionPolicyBinding[];
  readonly kind: "ValidatingAdmissionPolicyBindingList";
  readonly metadata: ListMeta;
}

export interface ValidatingAdmissionPolicyBindingSpec {
  readonly matchResources?: MatchResources;
  readonly paramRef?: ParamRef;
  readonly policyName?: string;
  readonly validationActions?: readonly ("Audit" | "Deny" | "Warn")[];
}

export interface ValidatingAdmissionPolicyList {
  readonly apiVersion: "admissionregistration.k8s.io/v1";
  readonly items: readonly ValidatingAdmissionPolicy[];
  readonly kind: "ValidatingAdmissionPolicyList";
  readonly metadata: ListMeta;
}

export interface ValidatingAdmissionPolicySpec {
  readonly auditAnnotations?: readonly AuditAnnotation[];
  readonly failurePolicy?: "Fail" | "Ignore";
  readonly matchConditions?: readonly MatchCondition[];
  readonly matchConstraints?: MatchResources;
  readonly paramKind?: ParamKind;
  readonly validations?: readonly Validation[];
  readonly variables?: readonly Variable[];
}

export interface ValidatingAdmissionPolicyStatus {
  readonly conditions?: readonly Condition[];
  readonly observedGeneration?: number;
  readonly typeChecking?: TypeChecking;
}

export interface ValidatingWebhook {
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
}

export interface ValidatingWebhookConfiguration {
  readonly apiVersion: "admissionregistration.k8s.io/v1";
  readonly kind: "ValidatingWebhookConfiguration";
  readonly metadata: StoredMeta;
  readonly webhooks?: readonly ValidatingWebhook[];
}
export const ValidatingWebhookConfiguration: ResourceType<ValidatingWebhookConfiguration> = {
  apiVersion: "admissionregistration.k8s.io/v1",
  kind: "ValidatingWebhookConfiguration",
  plural: "validatingwebhookconfigurations",
  namespaced: false,
};

export interface ValidatingWebhookConfigurationList {
  readonly apiVersion: "admissionregistration.k8s.io/v1";
  readonly items: readonly ValidatingWebhookConfiguration[];
  readonly kind: "ValidatingWebhookConfigurationList";
  readonly metadata: ListMeta;
}

export interface Validation {
  readonly expression: string;
  readonly message?: string;
  readonly messageExpression?: string;
  readonly reason?: string;
}

export interface Variable {
  readonly expression: string;
  readonly name: string;
}

export interface WebhookClientConfig {
  readonly caBundle?: string;
  readonly service?: ServiceReference;
  readonly url?: string;
}
