/**
 * No request takes longer than a minute, or than its client wants to wait (`?timeout=10s`). What it has begun may still
 * happen: the answer says only that nobody waits for it any more.
 */
import { badRequest, timeout } from "../../api/errors/api-error.ts";
import { parseDuration } from "../../api/values/time.ts";
import { LinkedList, type Link } from "../../base/loop/linked-list.ts";
import type { Loop } from "../../base/loop/loop.ts";
import type { Exchange, Stage } from "../request/exchange.ts";
import { letGo, type HttpResponse } from "../request/http.ts";
import type { AskedVerb, RequestInfo } from "../request/request-info.ts";

/** As kube-apiserver's. A client can only ask for less. */
const REQUEST_MS_MAX = 60_000;

/** What goes on for as long as the client likes. */
const STREAMS: ReadonlySet<string> = new Set(["attach", "exec", "log", "portforward", "proxy"]);
const READS: ReadonlySet<AskedVerb> = new Set<AskedVerb>(["get", "list"]);

/** Of clients that name a time most name the same one. */
const KINDS_MAX = 16;

export function endInTime(loop: Loop): Stage {
  const common = new Deadlines(loop, REQUEST_MS_MAX);
  const others = new Map<number, Deadlines>();
  const deadlinesOf = (ms: number): Deadlines => {
    if (ms === REQUEST_MS_MAX) return common;
    const known = others.get(ms);
    if (known !== undefined) return known;
    // Those under way end in time all the same.
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
      const underWay = deadlines.begin(expire);
      const answer = (response: HttpResponse): void => {
        if (isLate) letGo(response).catch(nobody);
        deadlines.end(underWay);
        resolve(response);
      };
      const fail = (error: Error): void => {
        deadlines.end(underWay);
        reject(error);
      };
      reply.then(answer, fail);
    });
  };
}

/** What breaks in an answer that came too late. */
function nobody(): void {
  // Its client was told something else.
}

/** A watch ends by its own time. */
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

/** A request. */
interface UnderWay {
  readonly expire: () => void;
  /** As Loop.elapsed tells the time. */
  readonly dueAt: number;
}

/**
 * Requests that all may take equally long, so that they come due in the order in which they began: one timer for the
 * oldest is enough, and is left alone while requests come and go. A timer for each would cost as much as a small read.
 */
class Deadlines {
  readonly #loop: Loop;
  readonly #allowedMs: number;
  readonly #underWay = new LinkedList<UnderWay>();
  #isArmed = false;

  constructor(loop: Loop, allowedMs: number) {
    this.#loop = loop;
    this.#allowedMs = allowedMs;
  }

  /** Calls `expire` in time unless what is answered is ended before. */
  begin(expire: () => void): Link<UnderWay> {
    if (!this.#isArmed) this.#arm(this.#allowedMs);
    return this.#underWay.add({ expire, dueAt: this.#loop.elapsed() + this.#allowedMs });
  }

  /** Does nothing the second time. */
  end(request: Link<UnderWay>): void {
    this.#underWay.remove(request);
  }

  #arm(afterMs: number): void {
    this.#isArmed = true;
    // Periodic: a deadline is no work that is left to do, only its request is.
    this.#loop.timer(this.#loop.now() + afterMs, "periodic", () => this.#wake());
  }

  #wake(): void {
    this.#isArmed = false;
    const now = this.#loop.elapsed();
    for (let oldest = this.#underWay.first; oldest?.item !== undefined; oldest = this.#underWay.first) {
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
