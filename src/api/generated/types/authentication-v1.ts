// Made by scripts/generate-facts.mjs. Do not edit.
import type { StoredMeta } from "./meta-v1.ts";

export interface BoundObjectReference {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly name?: string;
  readonly uid?: string;
}

export interface SelfSubjectReview {
  readonly apiVersion: "authentication.k8s.io/v1";
  readonly kind: "SelfSubjectReview";
  readonly metadata: StoredMeta;
  readonly status: SelfSubjectReviewStatus;
}

export interface SelfSubjectReviewStatus {
  readonly userInfo: UserInfo;
}

export interface TokenRequest {
  readonly apiVersion: "authentication.k8s.io/v1";
  readonly kind: "TokenRequest";
  readonly metadata: StoredMeta;
  readonly spec: TokenRequestSpec;
  readonly status: TokenRequestStatus;
}

export interface TokenRequestSpec {
  readonly audiences: readonly string[];
  readonly boundObjectRef: BoundObjectReference;
  readonly expirationSeconds: number;
}

export interface TokenRequestStatus {
  readonly expirationTimestamp: string;
  readonly token: string;
}

export interface TokenReview {
  readonly apiVersion: "authentication.k8s.io/v1";
  readonly kind: "TokenReview";
  readonly metadata: StoredMeta;
  readonly spec: TokenReviewSpec;
  readonly status: TokenReviewStatus;
}

export interface TokenReviewSpec {
  readonly audiences?: readonly string[];
  readonly token?: string;
}

export interface TokenReviewStatus {
  readonly audiences?: readonly string[];
  readonly authenticated?: boolean;
  readonly error?: string;
  readonly user: UserInfo;
}

export interface UserInfo {
  readonly extra?: Readonly<Record<string, readonly string[]>>;
  readonly groups?: readonly string[];
  readonly uid?: string;
  readonly username?: string;
}
