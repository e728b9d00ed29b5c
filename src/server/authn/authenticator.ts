import type { HttpRequest } from "../http.ts";
/** Who makes a request. There is one file for each way of saying so, and `authentication.ts` asks them in order. */
import type { User } from "../user.ts";

export interface Authenticator {
  /**
   * Undefined when nothing in the request is meant for it. Throws, or rejects with, the ApiError `Unauthorized` when something is and it is no
   * good: somebody who says wrongly who they are is not anonymous.
   */
  authenticate(request: HttpRequest): User | undefined | Promise<User | undefined>;
}
