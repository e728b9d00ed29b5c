/** Limits requests in flight when priority and fairness are off: one limit for reads, one for other requests. */
import { tooManyRequests } from "../../../api/errors/api-error.ts";
import type { Exchange, Stage } from "../../request/exchange.ts";
import type { HttpResponse } from "../../request/http.ts";
import { isLongRunning } from "../deadline.ts";

export interface InFlightLimits {
  /** 0 means no limit. */
  readonly reads: number;
  readonly writes: number;
}

/** Administrators are never limited, so that they can repair an overloaded cluster. */
const UNLIMITED_GROUP = "system:masters";

export function limitInFlight(limits: InFlightLimits): Stage {
  const underWay = { reads: 0, writes: 0 };
  return (exchange, next) => {
    if (isLongRunning(exchange.info)) return next(exchange);
    const kind = isRead(exchange) ? "reads" : "writes";
    const most = limits[kind];
    if (most > 0 && underWay[kind] >= most && exchange.user?.groups.includes(UNLIMITED_GROUP) !== true)
      throw tooManyRequests("Too many requests, please try again later.", 1);
    underWay[kind] += 1;
    const end = (): void => {
      underWay[kind] -= 1;
    };
    return ending(() => next(exchange), end);
  };
}

function ending(work: () => HttpResponse | Promise<HttpResponse>, end: () => void): ReturnType<typeof work> {
  let reply: ReturnType<typeof work> | undefined;
  try {
    reply = work();
    return reply instanceof Promise ? reply.finally(end) : reply;
  } finally {
    if (!(reply instanceof Promise)) end();
  }
}

function isRead({ info: { method } }: Exchange): boolean {
  return method === "GET" || method === "HEAD";
}
