/** Tokens of all other issuers, by the rules that hold now: those may change while the server runs. */
import type { RequestNotes } from "../../../request/request-notes.ts";
import type { TokenAuthenticator, TokenFinding } from "../authenticator.ts";
import type { JwtRules } from "./configuration.ts";
import { oidcTokens, type OidcParts } from "./oidc-tokens.ts";

/** The list is another one when the rules have changed. */
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
  /** By their rules: those of an issuer that stays as it was keep the keys that were fetched. */
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
      // No two of them have the same name: the one that a token is of decides.
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
