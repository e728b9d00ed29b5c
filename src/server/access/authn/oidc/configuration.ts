/** What an AuthenticationConfiguration says, once it was read and checked. */
import type { AnonymousRule } from "../anonymous.ts";

export interface AuthenticationConfiguration {
  readonly jwt: readonly JwtRules[];
  /** Undefined when nothing is said about it. */
  readonly anonymous: AnonymousRule | undefined;
}

/** Whose tokens are accepted, under which conditions, and whom they make of their bearers. */
export interface JwtRules {
  readonly issuer: JwtIssuer;
  /** With which a token may be signed. */
  readonly algorithms: readonly string[];
  readonly claimRules: readonly ClaimRule[];
  readonly username: MappedText;
  readonly groups: MappedText | undefined;
  readonly uid: MappedText | undefined;
  readonly extra: readonly { readonly key: string; readonly valueExpression: string }[];
  readonly userRules: readonly ExpressionRule[];
}

export interface JwtIssuer {
  /** As tokens name it. */
  readonly url: string;
  /** Where its configuration is found. */
  readonly discoveryUrl: string;
  /** A token must be meant for one of them. */
  readonly audiences: readonly string[];
  /** PEM; without one, the authorities that this machine trusts. */
  readonly ca: string | undefined;
}

export type ClaimRule =
  | { readonly type: "value"; readonly claim: string; readonly value: string }
  | ({ readonly type: "expression" } & ExpressionRule);

export interface ExpressionRule {
  readonly expression: string;
  /** Empty when there is none. */
  readonly message: string;
}

export type MappedText =
  | { readonly type: "claim"; readonly claim: string; readonly prefix: string }
  | { readonly type: "expression"; readonly expression: string };

/** None that is signed with a secret which both sides share: whoever can check a token could make one. */
export const ALGORITHMS: readonly string[] = [
  "RS256",
  "RS384",
  "RS512",
  "ES256",
  "ES384",
  "ES512",
  "PS256",
  "PS384",
  "PS512",
];

export function discoveryUrlOf(issuerUrl: string): string {
  return `${issuerUrl.replace(/\/$/, "")}/.well-known/openid-configuration`;
}
