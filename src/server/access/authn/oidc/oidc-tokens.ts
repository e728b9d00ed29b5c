/**
 * Authenticates tokens of OpenID Connect issuers: verifies the signature with the issuer's keys, and maps claims to
 * users.
 */
import { createHash } from "node:crypto";
import type { JsonObject } from "../../../../api/json/json-object.ts";
import type { RequestNotes } from "../../../request/request-notes.ts";
import type { User } from "../../../request/user.ts";
import type { TokenAuthenticator, TokenFinding } from "../authenticator.ts";
import { findOddClaim } from "../claim-types.ts";
import { audiencesOf, findParts, listText, textClaim } from "../jwt.ts";
import type { VerificationGate } from "../verification-gate.ts";
import { ClaimError, claimMapping } from "./claim-mapping.ts";
import type { ClaimMapping } from "./claim-mapping.ts";
import type { JwtRules } from "./configuration.ts";
import { IssuerError, IssuerKeys } from "./issuer-keys.ts";
import type { IssuerKeyParts } from "./issuer-keys.ts";

/** Allows for issuers whose clock is ahead. */
const NOT_BEFORE_LEEWAY_MS = 300_000;
/** Lifetime of a cached verification, and the number of cached ones. */
const BELIEF_MS = 10_000;
const BELIEFS_MAX = 2048;

export interface OidcParts extends IssuerKeyParts {
  readonly gate: VerificationGate;
}

export function oidcTokens(rules: JwtRules, parts: OidcParts): TokenAuthenticator {
  return new OidcTokens(rules, parts);
}

interface Belief {
  readonly claims: JsonObject;
  readonly user: User;
  readonly until: number;
}

interface Asked {
  readonly token: string;
  readonly digest: string;
  readonly claims: JsonObject;
  readonly audiences: readonly string[];
  readonly notes: RequestNotes | undefined;
}

class OidcTokens implements TokenAuthenticator {
  readonly #rules: JwtRules;
  readonly #parts: OidcParts;
  readonly #keys: IssuerKeys;
  readonly #beliefs = new Map<string, Belief>();
  #mapping: ClaimMapping | undefined;

  constructor(rules: JwtRules, parts: OidcParts) {
    this.#rules = rules;
    this.#parts = parts;
    this.#keys = new IssuerKeys(rules.issuer, parts);
  }

  find(
    token: string,
    audiences: readonly string[],
    notes?: RequestNotes,
  ): TokenFinding | undefined | Promise<TokenFinding | undefined> {
    const digest = createHash("sha256").update(token).digest("base64");
    const believed = this.#beliefs.get(digest);
    if (believed !== undefined && believed.until > this.#parts.loop.elapsed()) {
      const problem = this.#findProblem(believed.claims);
      return problem === undefined ? { type: "bearer", user: believed.user, audiences } : refused(problem);
    }
    const claims = findParts(token)?.claims;
    if (claims === undefined || textClaim(claims, "iss") !== this.#rules.issuer.url) return undefined;
    const problem = this.#findProblem(claims);
    if (problem !== undefined) return refused(problem);
    return this.#verify({ token, digest, claims, audiences, notes });
  }

  async #verify({ token, digest, claims, audiences, notes }: Asked): Promise<TokenFinding> {
    const { gate } = this.#parts;
    try {
      if (!(await gate.run(notes, () => this.#keys.hasSigned(token, this.#rules.algorithms))))
        return refused("oidc: verify token: failed to verify signature");
      this.#mapping ??= claimMapping(this.#rules);
      const user = this.#mapping(claims);
      this.#believe(digest, { claims, user, until: this.#parts.loop.elapsed() + BELIEF_MS });
      return { type: "bearer", user, audiences };
    } catch (error) {
      if (error instanceof ClaimError) return refused(`oidc: ${error.message}`);
      if (error instanceof IssuerError)
        return refused(`oidc: authenticator not initialized: ${error.message}`);
      throw error;
    }
  }

  /** Checks the claims without the signature: types, times and audiences. */
  #findProblem(claims: JsonObject): string | undefined {
    const now = this.#parts.loop.now();
    const odd = findOddClaim(claims);
    if (odd !== undefined) return `oidc: verify token: the claim ${JSON.stringify(odd)} is malformed`;
    const { exp, nbf } = claims;
    if (typeof exp !== "number") return "oidc: verify token: the token has no expiry";
    if (exp * 1000 < now) return "oidc: verify token: oidc: token is expired";
    if (typeof nbf === "number" && now + NOT_BEFORE_LEEWAY_MS < nbf * 1000)
      return "oidc: verify token: oidc: current time before the nbf (not before) time";
    const given = audiencesOf(claims);
    const { audiences } = this.#rules.issuer;
    if (given.some((audience) => audiences.includes(audience))) return undefined;
    return `oidc: verify token: oidc: expected audience in ${listText(audiences)} got ${listText(given)}`;
  }

  #believe(digest: string, belief: Belief): void {
    if (this.#beliefs.size >= BELIEFS_MAX) this.#forget();
    this.#beliefs.set(digest, belief);
  }

  /** Evicts expired verifications and the oldest one. */
  #forget(): void {
    const now = this.#parts.loop.elapsed();
    let isFirst = true;
    for (const [digest, { until }] of this.#beliefs) {
      if (isFirst || until <= now) this.#beliefs.delete(digest);
      isFirst = false;
    }
  }
}

function refused(reason: string): TokenFinding {
  return { type: "refused", reason };
}
