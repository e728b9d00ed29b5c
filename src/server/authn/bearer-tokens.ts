/** Tokens of all kinds, as requests show them and as TokenReviews ask about them: one chain for both. */
import { unauthorized } from "../../api/api-error.ts";
import type { RequestNotes } from "../request-notes.ts";
import type { User } from "../user.ts";
import type { Authenticator, TokenAuthenticator, TokenFinding } from "./authenticator.ts";
import { findSocketToken } from "./socket-token.ts";

/** The first kind that knows a token's bearer decides; the reasons of those that refuse it are told together. */
export class BearerTokens {
  /** For whom a token must be unless somebody asks otherwise. */
  readonly audiences: readonly string[];
  readonly #kinds: readonly TokenAuthenticator[];

  constructor(kinds: readonly TokenAuthenticator[], audiences: readonly string[]) {
    this.#kinds = kinds;
    this.audiences = audiences;
  }

  find(
    token: string,
    audiences: readonly string[],
    notes: RequestNotes,
  ): TokenFinding | Promise<TokenFinding> {
    return this.#ask(0, { token, audiences, notes, reasons: [] });
  }

  #ask(at: number, asked: Asked): TokenFinding | Promise<TokenFinding> {
    const kind = this.#kinds[at];
    if (kind === undefined) return refusal(asked.reasons);
    const found = kind.find(asked.token, asked.audiences, asked.notes);
    if (!(found instanceof Promise)) return this.#weigh(found, at, asked);
    return found.then((later) => this.#weigh(later, at, asked));
  }

  #weigh(found: TokenFinding | undefined, at: number, asked: Asked): TokenFinding | Promise<TokenFinding> {
    if (found?.type === "bearer") return found;
    const reasons = found === undefined ? asked.reasons : [...asked.reasons, found.reason];
    return this.#ask(at + 1, { ...asked, reasons });
  }
}

interface Asked {
  readonly token: string;
  readonly audiences: readonly string[];
  readonly notes: RequestNotes;
  readonly reasons: readonly string[];
}

const INVALID = "invalid bearer token";

function refusal(reasons: readonly string[]): TokenFinding {
  const reason = reasons.length === 0 ? INVALID : `[${[INVALID, ...reasons].join(", ")}]`;
  return { type: "refused", reason };
}

/** By the header `authorization: Bearer TOKEN`. Other schemes are nobody's here, and say nothing. */
export function bearer(tokens: BearerTokens): Authenticator {
  return {
    authenticate({ headers }, notes) {
      const token = findToken(headers.get("authorization")) ?? findSocketToken(headers);
      if (token === undefined) return undefined;
      const found = tokens.find(token, tokens.audiences, notes);
      return found instanceof Promise ? found.then(userOf) : userOf(found);
    },
  };
}

function findToken(header: string | undefined): string | undefined {
  if (header === undefined) return undefined;
  const [scheme = "", token = ""] = header.trim().split(" ", 2);
  return scheme.toLowerCase() === "bearer" && token !== "" ? token : undefined;
}

/** Why is for TokenReviews: whoever guesses tokens learns nothing. */
function userOf(found: TokenFinding): User {
  if (found.type === "refused") throw unauthorized();
  return found.user;
}
