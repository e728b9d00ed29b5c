/** Contract of an authenticator. Each credential type has its own file; `authentication.ts` asks them in order. */
import type { AcceptedRequest } from "../../request/http.ts";
import type { RequestInfo } from "../../request/request-info.ts";
import type { RequestNotes } from "../../request/request-notes.ts";
import type { User } from "../../request/user.ts";

export interface Authenticator {
  /**
   * Undefined if the request has no credential of this type. Throws or rejects with the ApiError `Unauthorized` for
   * an invalid one: a client with a wrong credential is not anonymous. Warnings and annotations about the credential
   * go to the notes.
   */
  authenticate(
    request: AcceptedRequest,
    notes: RequestNotes,
    info: RequestInfo,
  ): User | undefined | Promise<User | undefined>;
}

/** Result for a bearer token. The reason is for people, and contains no part of the token. */
export type TokenFinding =
  | {
      readonly type: "bearer";
      readonly user: User;
      /** Requested audiences for which the token is valid. */
      readonly audiences: readonly string[];
    }
  | { readonly type: "refused"; readonly reason: string };

/** Authenticator for one kind of bearer token. */
export interface TokenAuthenticator {
  /**
   * Undefined if the token is of another kind. Rejects only with the ApiError `TooManyRequests`. The token must be
   * valid for at least one of `audiences`.
   */
  find(
    token: string,
    audiences: readonly string[],
    notes?: RequestNotes,
  ): TokenFinding | undefined | Promise<TokenFinding | undefined>;
}
