/** The chain of token authenticators, shared by requests and TokenReviews. */
import { unauthorized } from "../../../api/errors/api-error.ts";
import { valuesOf } from "../../request/header-values.ts";
import type { AcceptedRequest } from "../../request/http.ts";
import type { RequestNotes } from "../../request/request-notes.ts";
import type { User } from "../../request/user.ts";
import { findSocketToken } from "../../request/websocket-token.ts";
import type { Authenticator, TokenAuthenticator, TokenFinding } from "./authenticator.ts";

/** The first kind that accepts the token decides; the reasons of all refusals are joined. */
export class BearerTokens {
  /** Audiences a token must have unless the caller requests others. */
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

/** Authenticates by the header `authorization: Bearer TOKEN`. Ignores other schemes. */
export function bearer(tokens: BearerTokens): Authenticator {
  return {
    authenticate(request, notes) {
      const token = findToken(request) ?? findSocketToken(request.headers);
      if (token === undefined) return undefined;
      const found = tokens.find(token, tokens.audiences, notes);
      return found instanceof Promise ? found.then(userOf) : userOf(found);
    },
  };
}

/**
 * Throws `Unauthorized` for several headers, and for text after the token. Upstream ignores all but the first token.
 */
function findToken(request: AcceptedRequest): string | undefined {
  const header = request.headers.get(HEADER);
  if (header === undefined) return undefined;
  if (valuesOf(request, HEADER).length > 1) throw unauthorized();
  const [scheme = "", token = "", ...others] = header.trim().split(" ", 3);
  if (scheme.toLowerCase() !== "bearer" || token === "") return undefined;
  if (others.length > 0) throw unauthorized();
  return token;
}

const HEADER = "authorization";

/** Drops the reason, so that a client that guesses tokens learns nothing; TokenReviews show it. */
function userOf(found: TokenFinding): User {
  if (found.type === "refused") throw unauthorized();
  return found.user;
}
