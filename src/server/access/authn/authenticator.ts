/** Who makes a request. There is one file for each way of saying so, and `authentication.ts` asks them in order. */
import type { AcceptedRequest } from "../../request/http.ts";
import type { RequestInfo } from "../../request/request-info.ts";
import type { RequestNotes } from "../../request/request-notes.ts";
import type { User } from "../../request/user.ts";

export interface Authenticator {
  /**
   * Undefined when nothing in the request is meant for it. Throws, or rejects with, the ApiError `Unauthorized` when something is and it is no
   * good: somebody who says wrongly who they are is not anonymous. What should be known of how they say it goes to the notes.
   */
  authenticate(
    request: AcceptedRequest,
    notes: RequestNotes,
    info: RequestInfo,
  ): User | undefined | Promise<User | undefined>;
}

/** What became of a bearer token. A reason is for people, and never holds any part of the token. */
export type TokenFinding =
  | {
      readonly type: "bearer";
      readonly user: User;
      /** Of those asked for, the ones that the token is meant for. */
      readonly audiences: readonly string[];
    }
  | { readonly type: "refused"; readonly reason: string };

/** One kind of bearer token. */
export interface TokenAuthenticator {
  /**
   * Undefined when the token is not of this kind. Rejects only with the ApiError `TooManyRequests`. The token must be meant for at least one of
   * `audiences`.
   */
  find(
    token: string,
    audiences: readonly string[],
    notes?: RequestNotes,
  ): TokenFinding | undefined | Promise<TokenFinding | undefined>;
}
