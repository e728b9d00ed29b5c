/** The stage at which it is found out who makes a request: the first who knows decides. */
import { unauthorized } from "../../api/api-error.ts";
import type { Exchange, Stage } from "../exchange.ts";
import type { User } from "../user.ts";
import type { Authenticator } from "./authenticator.ts";

export function authenticate(authenticators: readonly Authenticator[]): Stage {
  return (exchange, next) => {
    const found = identify(exchange, authenticators, 0);
    return found instanceof Promise
      ? found.then((user) => next({ ...exchange, user }))
      : next({ ...exchange, user: found });
  };
}

/** Asks those from `at` on. */
function identify(
  exchange: Exchange,
  authenticators: readonly Authenticator[],
  at: number,
): User | Promise<User> {
  const authenticator = authenticators[at];
  if (authenticator === undefined) throw unauthorized();
  const found = authenticator.authenticate(exchange.request, exchange.notes);
  if (found instanceof Promise)
    return found.then((user) => user ?? identify(exchange, authenticators, at + 1));
  return found ?? identify(exchange, authenticators, at + 1);
}
