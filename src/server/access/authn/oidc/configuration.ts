/** Contents of an AuthenticationConfiguration after validation. */
import type { AnonymousRule } from "../anonymous.ts";

export interface AuthenticationConfiguration {
  readonly jwt: readonly JwtRules[];
  /** Undefined if the file does not set it. */
  readonly anonymous: AnonymousRule | undefined;
}

/** Rules for the tokens of one issuer: validation, and mapping to a user. */
export interface JwtRules {
  readonly issuer: JwtIssuer;
  /** Accepted signature algorithms. */
  readonly algorithms: readonly string[];
  readonly claimRules: readonly ClaimRule[];
  readonly username: MappedText;
  readonly groups: MappedText | undefined;
  readonly uid: MappedText | undefined;
  readonly extra: readonly { readonly key: string; readonly valueExpression: string }[];
  readonly userRules: readonly ExpressionRule[];
}

export interface JwtIssuer {
  /** Value of the `iss` claim. */
  readonly url: string;
  /** URL of the issuer's OpenID configuration. */
  readonly discoveryUrl: string;
  /** The token needs at least one of them. */
  readonly audiences: readonly string[];
  /** PEM. Default: the authorities that this machine trusts. */
  readonly ca: string | undefined;
}

export type ClaimRule =
  | { readonly type: "value"; readonly claim: string; readonly value: string }
  | ({ readonly type: "expression" } & ExpressionRule);

export interface ExpressionRule {
  readonly expression: string;
  /** Empty if unset. */
  readonly message: string;
}

export type MappedText =
  | { readonly type: "claim"; readonly claim: string; readonly prefix: string }
  | { readonly type: "expression"; readonly expression: string };

/** Asymmetric algorithms only: with a shared secret, a server that verifies tokens could also create them. */
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
