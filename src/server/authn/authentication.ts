/** The stage at which it is found out who makes a request: the first who knows decides. */
import { unauthorized } from "../../api/api-error.ts";
import type { Stage } from "../exchange.ts";
import type { HttpRequest } from "../http.ts";
import type { User } from "../user.ts";
import type { Authenticator } from "./authenticator.ts";

export function authenticate(authenticators: readonly Authenticator[]): Stage {
  return (exchange, next) => {
    const found = identify(exchange.request, authenticators);
    return found instanceof Promise
      ? found.then((user) => next({ ...exchange, user }))
      : next({ ...exchange, user: found });
  };
}

function identify(request: HttpRequest, [first, ...others]: readonly Authenticator[]): User | Promise<User> {
  if (first === undefined) throw unauthorized();
  const found = first.authenticate(request);
  if (found instanceof Promise) return found.then((user) => user ?? identify(request, others));
  return found ?? identify(request, others);
}
