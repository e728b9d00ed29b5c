// Made by scripts/generate-facts.mjs. Do not edit.
import type { FieldSelectorRequirement, LabelSelectorRequirement, StoredMeta } from "./meta-v1.ts";

export type FieldSelectorAttributes = {
  readonly rawSelector?: string;
  readonly requirements?: readonly FieldSelectorRequirement[];
};

export type LabelSelectorAttributes = {
  readonly rawSelector?: string;
  readonly requirements?: readonly LabelSelectorRequirement[];
};

export type LocalSubjectAccessReview = {
  readonly apiVersion: "authorization.k8s.io/v1";
  readonly kind: "LocalSubjectAccessReview";
  readonly metadata: StoredMeta;
  readonly spec: SubjectAccessReviewSpec;
  readonly status: SubjectAccessReviewStatus;
};

export type NonResourceAttributes = {
  readonly path?: string;
  readonly verb?: string;
};

export type NonResourceRule = {
  readonly nonResourceURLs?: readonly string[];
  readonly verbs: readonly string[];
};

export type ResourceAttributes = {
  readonly fieldSelector?: FieldSelectorAttributes;
  readonly group?: string;
  readonly labelSelector?: LabelSelectorAttributes;
  readonly name?: string;
  readonly namespace?: string;
  readonly resource?: string;
  readonly subresource?: string;
  readonly verb?: string;
  readonly version?: string;
};

export type ResourceRule = {
  readonly apiGroups?: readonly string[];
  readonly resourceNames?: readonly string[];
  readonly resources?: readonly string[];
  readonly verbs: readonly string[];
};

export type SelfSubjectAccessReview = {
  readonly apiVersion: "authorization.k8s.io/v1";
  readonly kind: "SelfSubjectAccessReview";
  readonly metadata: StoredMeta;
  readonly spec: SelfSubjectAccessReviewSpec;
  readonly status: SubjectAccessReviewStatus;
};

export type SelfSubjectAccessReviewSpec = {
  readonly nonResourceAttributes?: NonResourceAttributes;
  readonly resourceAttributes?: ResourceAttributes;
};

export type SelfSubjectRulesReview = {
  readonly apiVersion: "authorization.k8s.io/v1";
  readonly kind: "SelfSubjectRulesReview";
  readonly metadata: StoredMeta;
  readonly spec: SelfSubjectRulesReviewSpec;
  readonly status: SubjectRulesReviewStatus;
};

export type SelfSubjectRulesReviewSpec = {
  readonly namespace?: string;
};

export type SubjectAccessReview = {
  readonly apiVersion: "authorization.k8s.io/v1";
  readonly kind: "SubjectAccessReview";
  readonly metadata: StoredMeta;
  readonly spec: SubjectAccessReviewSpec;
  readonly status: SubjectAccessReviewStatus;
};

export type SubjectAccessReviewSpec = {
  readonly extra?: Readonly<Record<string, readonly string[]>>;
  readonly groups?: readonly string[];
  readonly nonResourceAttributes?: NonResourceAttributes;
  readonly resourceAttributes?: ResourceAttributes;
  readonly uid?: string;
  readonly user?: string;
};

export type SubjectAccessReviewStatus = {
  readonly allowed: boolean;
  readonly denied?: boolean;
  readonly evaluationError?: string;
  readonly reason?: string;
};

export type SubjectRulesReviewStatus = {
  readonly evaluationError?: string;
  readonly incomplete: boolean;
  readonly nonResourceRules: readonly NonResourceRule[];
  readonly resourceRules: readonly ResourceRule[];
};
