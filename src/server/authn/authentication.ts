/** The stage at which it is found out who makes a request: the first who knows decides. */
import { unauthorized } from "../../api/api-error.ts";
import type { Stage } from "../exchange.ts";
import type { HttpRequest } from "../http.ts";
import type { User } from "../user.ts";
import type { Authenticator } from "./authenticator.ts";

export function authenticate(authenticators: readonly Authenticator[]): Stage {
  return (exchange, next) => {
    const found = identify(exchange.request, authenticators, 0);
    return found instanceof Promise
      ? found.then((user) => next({ ...exchange, user }))
      : next({ ...exchange, user: found });
  };
}

/** Asks those from `at` on. */
function identify(
  request: HttpRequest,
  authenticators: readonly Authenticator[],
  at: number,
): User | Promise<User> {
  const authenticator = authenticators[at];
  if (authenticator === undefined) throw unauthorized();
  const found = authenticator.authenticate(request);
  if (found instanceof Promise)
    return found.then((user) => user ?? identify(request, authenticators, at + 1));
  return found ?? identify(request, authenticators, at + 1);
}
