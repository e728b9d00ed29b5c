/** Authenticates tokens of all configured issuers, by the current rules, which may change at run time. */
import type { RequestNotes } from "../../../request/request-notes.ts";
import type { TokenAuthenticator, TokenFinding } from "../authenticator.ts";
import type { JwtRules } from "./configuration.ts";
import { oidcTokens, type OidcParts } from "./oidc-tokens.ts";

/** `current` is another array after a change. */
export interface LiveRules {
  readonly current: readonly JwtRules[];
}

export function otherIssuers(rules: LiveRules, parts: OidcParts): TokenAuthenticator {
  return new OtherIssuers(rules, parts);
}

class OtherIssuers implements TokenAuthenticator {
  readonly #rules: LiveRules;
  readonly #parts: OidcParts;
  #seen: readonly JwtRules[] = [];
  /** Keyed by their rules: an issuer with unchanged rules keeps its fetched keys. */
  #issuers = new Map<string, TokenAuthenticator>();

  constructor(rules: LiveRules, parts: OidcParts) {
    this.#rules = rules;
    this.#parts = parts;
  }

  find(
    token: string,
    audiences: readonly string[],
    notes: RequestNotes,
  ): TokenFinding | undefined | Promise<TokenFinding | undefined> {
    this.#catchUp();
    for (const issuer of this.#issuers.values()) {
      const found = issuer.find(token, audiences, notes);
      // Issuer URLs are unique, so at most one issuer recognises the token.
      if (found !== undefined) return found;
    }
    return undefined;
  }

  #catchUp(): void {
    const { current } = this.#rules;
    if (current === this.#seen) return;
    const before = this.#issuers;
    this.#seen = current;
    this.#issuers = new Map(
      current.map((rules) => {
        const key = JSON.stringify(rules);
        return [key, before.get(key) ?? oidcTokens(rules, this.#parts)];
      }),
    );
  }
}
