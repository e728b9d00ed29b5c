/** Pipeline stage that finds the user of a request: the first authenticator with a result decides. */
import { isApiError, unauthorized } from "../../../api/errors/api-error.ts";
import type { Exchange, Next, Reply, Stage } from "../../request/exchange.ts";
import type { User } from "../../request/user.ts";
import type { Authenticator } from "./authenticator.ts";

export function authenticate(authenticators: readonly Authenticator[]): Stage {
  return (exchange, next) => {
    const found = identifyUser(exchange, authenticators);
    return found instanceof Promise
      ? found.then((user) => goOn({ ...exchange, user }, user, next))
      : goOn({ ...exchange, user: found }, found, next);
  };
}

/** Group of clients without credentials: none of their data is verified. */
const UNVERIFIED = "system:unauthenticated";

/**
 * Continues once the queue serves the user. Without a cached credential, the request was queued for its connection.
 */
function goOn(exchange: Exchange, { name, groups }: User, next: Next): Reply {
  const { queueEntry } = exchange.request;
  if (queueEntry === undefined || queueEntry.isOwnedBy(name) || groups.includes(UNVERIFIED))
    return next(exchange);
  return new Promise((resolve, reject) => {
    queueEntry.queueFor(name, { begin: () => settle(() => next(exchange), resolve, reject), refuse: reject });
  });
}

function settle(work: () => Reply, resolve: (reply: Reply) => void, reject: (error: Error) => void): void {
  try {
    resolve(work());
  } catch (error) {
    reject(error as Error);
  }
}

function identifyUser(exchange: Exchange, authenticators: readonly Authenticator[]): User | Promise<User> {
  const refuse = (error: unknown): never => {
    if (isApiError(error, "Unauthorized")) exchange.request.queueEntry?.noteRefusal();
    throw error;
  };
  try {
    const found = identify(exchange, authenticators, 0);
    return found instanceof Promise ? found.catch(refuse) : found;
  } catch (error) {
    return refuse(error);
  }
}

/** Asks the authenticators from index `at` on. */
function identify(
  exchange: Exchange,
  authenticators: readonly Authenticator[],
  at: number,
): User | Promise<User> {
  const authenticator = authenticators[at];
  if (authenticator === undefined) throw unauthorized();
  const found = authenticator.authenticate(exchange.request, exchange.notes, exchange.info);
  if (found instanceof Promise)
    return found.then((user) => user ?? identify(exchange, authenticators, at + 1));
  return found ?? identify(exchange, authenticators, at + 1);
}
