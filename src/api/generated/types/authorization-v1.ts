// Made by scripts/generate-facts.mjs. Do not edit.
import type { FieldSelectorRequirement, LabelSelectorRequirement, StoredMeta } from "./meta-v1.ts";

export interface FieldSelectorAttributes {
  readonly rawSelector?: string;
  readonly requirements?: readonly FieldSelectorRequirement[];
}

export interface LabelSelectorAttributes {
  readonly rawSelector?: string;
  readonly requirements?: readonly LabelSelectorRequirement[];
}

export interface LocalSubjectAccessReview {
  readonly apiVersion: "authorization.k8s.io/v1";
  readonly kind: "LocalSubjectAccessReview";
  readonly metadata: StoredMeta;
  readonly spec: SubjectAccessReviewSpec;
  readonly status: SubjectAccessReviewStatus;
}

export interface NonResourceAttributes {
  readonly path?: string;
  readonly verb?: string;
}

export interface NonResourceRule {
  readonly nonResourceURLs?: readonly string[];
  readonly verbs: readonly string[];
}

export interface ResourceAttributes {
  readonly fieldSelector?: FieldSelectorAttributes;
  readonly group?: string;
  readonly labelSelector?: LabelSelectorAttributes;
  readonly name?: string;
  readonly namespace?: string;
  readonly resource?: string;
  readonly subresource?: string;
  readonly verb?: string;
  readonly version?: string;
}

export interface ResourceRule {
  readonly apiGroups?: readonly string[];
  readonly resourceNames?: readonly string[];
  readonly resources?: readonly string[];
  readonly verbs: readonly string[];
}

export interface SelfSubjectAccessReview {
  readonly apiVersion: "authorization.k8s.io/v1";
  readonly kind: "SelfSubjectAccessReview";
  readonly metadata: StoredMeta;
  readonly spec: SelfSubjectAccessReviewSpec;
  readonly status: SubjectAccessReviewStatus;
}

export interface SelfSubjectAccessReviewSpec {
  readonly nonResourceAttributes?: NonResourceAttributes;
  readonly resourceAttributes?: ResourceAttributes;
}

export interface SelfSubjectRulesReview {
  readonly apiVersion: "authorization.k8s.io/v1";
  readonly kind: "SelfSubjectRulesReview";
  readonly metadata: StoredMeta;
  readonly spec: SelfSubjectRulesReviewSpec;
  readonly status: SubjectRulesReviewStatus;
}

export interface SelfSubjectRulesReviewSpec {
  readonly namespace?: string;
}

export interface SubjectAccessReview {
  readonly apiVersion: "authorization.k8s.io/v1";
  readonly kind: "SubjectAccessReview";
  readonly metadata: StoredMeta;
  readonly spec: SubjectAccessReviewSpec;
  readonly status: SubjectAccessReviewStatus;
}

export interface SubjectAccessReviewSpec {
  readonly extra?: Readonly<Record<string, readonly string[]>>;
  readonly groups?: readonly string[];
  readonly nonResourceAttributes?: NonResourceAttributes;
  readonly resourceAttributes?: ResourceAttributes;
  readonly uid?: string;
  readonly user?: string;
}

export interface SubjectAccessReviewStatus {
  readonly allowed: boolean;
  readonly denied?: boolean;
  readonly evaluationError?: string;
  readonly reason?: string;
}

export interface SubjectRulesReviewStatus {
  readonly evaluationError?: string;
  readonly incomplete: boolean;
  readonly nonResourceRules: readonly NonResourceRule[];
  readonly resourceRules: readonly ResourceRule[];
}
