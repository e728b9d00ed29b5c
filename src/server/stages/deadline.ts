/**
 * Times out requests after a minute, or earlier if the client asks (`?timeout=10s`). Work that has begun may still
 * complete; the response only says that the server no longer waits for it.
 */
import { badRequest, timeout } from "../../api/errors/api-error.ts";
import { parseDuration } from "../../api/values/time.ts";
import { LinkedList, type Link } from "../../base/loop/linked-list.ts";
import type { Loop } from "../../base/loop/loop.ts";
import type { Exchange, Stage } from "../request/exchange.ts";
import { releaseResponse, type HttpResponse } from "../request/http.ts";
import type { AskedVerb, RequestInfo } from "../request/request-info.ts";

/** As in kube-apiserver. A client can only ask for less. */
const REQUEST_MS_MAX = 60_000;

/** Subresources that stay open as long as the client wants. */
const STREAMS: ReadonlySet<string> = new Set(["attach", "exec", "log", "portforward", "proxy"]);
const READS: ReadonlySet<AskedVerb> = new Set<AskedVerb>(["get", "list"]);

/** Number of cached timeouts. Most clients that set a timeout use the same one. */
const KINDS_MAX = 16;

export function endInTime(loop: Loop): Stage {
  const common = new Deadlines(loop, REQUEST_MS_MAX);
  const others = new Map<number, Deadlines>();
  const deadlinesOf = (ms: number): Deadlines => {
    if (ms === REQUEST_MS_MAX) return common;
    const known = others.get(ms);
    if (known !== undefined) return known;
    // Requests in flight keep their timers.
    if (others.size >= KINDS_MAX) others.clear();
    const made = new Deadlines(loop, ms);
    others.set(ms, made);
    return made;
  };
  return (exchange, next) => {
    if (isLongRunning(exchange.info)) return next(exchange);
    const ms = allowedMs(exchange);
    const reply = next(exchange);
    if (!(reply instanceof Promise)) return reply;
    const deadlines = deadlinesOf(ms);
    return new Promise((resolve, reject) => {
      let isLate = false;
      const expire = (): void => {
        isLate = true;
        reject(timeout(textFor(exchange.info), 0));
      };
      const inFlight = deadlines.begin(expire);
      const answer = (response: HttpResponse): void => {
        if (isLate) releaseResponse(response).catch(ignoreError);
        deadlines.end(inFlight);
        resolve(response);
      };
      const fail = (error: Error): void => {
        deadlines.end(inFlight);
        reject(error);
      };
      reply.then(answer, fail);
    });
  };
}

function ignoreError(): void {
  // The client already got a timeout.
}

/** Whether the timeout does not apply. A watch has its own (`timeoutSeconds`). */
export function isLongRunning(info: RequestInfo): boolean {
  return info.type === "resource" && (info.verb === "watch" || STREAMS.has(info.subresource));
}

export function allowedMs({ query }: Exchange): number {
  const text = query.size === 0 ? "" : (query.get("timeout") ?? "");
  if (text === "") return REQUEST_MS_MAX;
  const asked = Number((nanoseconds(text) + 999_999n) / 1_000_000n);
  return asked > 0 ? Math.min(asked, REQUEST_MS_MAX) : REQUEST_MS_MAX;
}

function nanoseconds(text: string): bigint {
  try {
    return parseDuration(text);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw badRequest(`invalid timeout specified in the request URL - ${error.message}`, { cause: error });
  }
}

function textFor(info: RequestInfo): string {
  const isWrite = info.type === "resource" && !READS.has(info.verb);
  return isWrite
    ? "request did not complete within requested timeout - context deadline exceeded"
    : "request did not complete within the allotted timeout";
}

/** A request in flight. */
interface InFlight {
  readonly expire: () => void;
  /** By `Loop.elapsed`. */
  readonly dueAt: number;
}

/**
 * Requests with the same timeout, which expire in the order in which they began. One timer for the oldest is enough,
 * and is not reset by other requests. A timer for each would cost as much as a small read.
 */
class Deadlines {
  readonly #loop: Loop;
  readonly #allowedMs: number;
  readonly #inFlight = new LinkedList<InFlight>();
  #isArmed = false;

  constructor(loop: Loop, allowedMs: number) {
    this.#loop = loop;
    this.#allowedMs = allowedMs;
  }

  /** Calls `expire` after the timeout unless `end` is called before. */
  begin(expire: () => void): Link<InFlight> {
    if (!this.#isArmed) this.#arm(this.#allowedMs);
    return this.#inFlight.add({ expire, dueAt: this.#loop.elapsed() + this.#allowedMs });
  }

  /** Idempotent. */
  end(request: Link<InFlight>): void {
    this.#inFlight.remove(request);
  }

  #arm(afterMs: number): void {
    this.#isArmed = true;
    // Periodic: only the request counts as pending work, not its deadline.
    this.#loop.timer(this.#loop.now() + afterMs, "periodic", () => this.#wake());
  }

  #wake(): void {
    this.#isArmed = false;
    const now = this.#loop.elapsed();
    for (let oldest = this.#inFlight.first; oldest?.item !== undefined; oldest = this.#inFlight.first) {
      const { dueAt, expire } = oldest.item;
      if (dueAt > now) {
        this.#arm(dueAt - now);
        return;
      }
      this.end(oldest);
      expire();
    }
  }
}
