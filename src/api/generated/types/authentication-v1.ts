// Made by scripts/generate-facts.mjs. Do not edit.
import type { StoredMeta } from "./meta-v1.ts";

export type BoundObjectReference = {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly name?: string;
  readonly uid?: string;
};

export type SelfSubjectReview = {
  readonly apiVersion: "authentication.k8s.io/v1";
  readonly kind: "SelfSubjectReview";
  readonly metadata: StoredMeta;
  readonly status: SelfSubjectReviewStatus;
};

export type SelfSubjectReviewStatus = {
  readonly userInfo: UserInfo;
};

export type TokenRequest = {
  readonly apiVersion: "authentication.k8s.io/v1";
  readonly kind: "TokenRequest";
  readonly metadata: StoredMeta;
  readonly spec: TokenRequestSpec;
  readonly status: TokenRequestStatus;
};

export type TokenRequestSpec = {
  readonly audiences: readonly string[];
  readonly boundObjectRef: BoundObjectReference;
  readonly expirationSeconds: number;
};

export type TokenRequestStatus = {
  readonly expirationTimestamp: string;
  readonly token: string;
};

export type TokenReview = {
  readonly apiVersion: "authentication.k8s.io/v1";
  readonly kind: "TokenReview";
  readonly metadata: StoredMeta;
  readonly spec: TokenReviewSpec;
  readonly status: TokenReviewStatus;
};

export type TokenReviewSpec = {
  readonly audiences?: readonly string[];
  readonly token?: string;
};

export type TokenReviewStatus = {
  readonly audiences?: readonly string[];
  readonly authenticated?: boolean;
  readonly error?: string;
  readonly user: UserInfo;
};

export type UserInfo = {
  readonly extra?: Readonly<Record<string, readonly string[]>>;
  readonly groups?: readonly string[];
  readonly uid?: string;
  readonly username?: string;
};
