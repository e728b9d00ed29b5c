/** Asks another server something by a review, and waits for one that has a moment's trouble: by upstream's rules, for both kinds of reviews. */
import type { Loop } from "../../base/loop/loop.ts";
import { pause } from "../../base/loop/pause.ts";
import type { ClientPair, Egress, EgressReply } from "./egress.ts";
import { EgressError } from "./egress.ts";
import { restTarget } from "./rest-target.ts";

export interface ReviewServer {
  readonly url: string;
  readonly ca: string | undefined;
  readonly pair: ClientPair | undefined;
  readonly headers: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
}

export interface ReviewParts {
  readonly loop: Loop;
  readonly egress: Egress;
}

/** A review is small; this is room for a long reason. */
const REPLY_BYTES_MAX = 1024 * 1024;
/** As upstream's: a webhook that restarts is waited for. */
const TRIES = 5;
const FIRST_PAUSE_MS = 500;
const PAUSE_FACTOR = 1.5;
/** Internal error, gateway timeout, too many requests. */
const PASSING = new Set([500, 504, 429]);

/** Rejects with an EgressError, also for answers that are none. */
export async function askReview(
  parts: ReviewParts,
  server: ReviewServer,
  body: string,
): Promise<EgressReply> {
  for (let attempt = 1, pauseMs = FIRST_PAUSE_MS; ; attempt++, pauseMs *= PAUSE_FACTOR) {
    try {
      const reply = await call(parts, server, body);
      if (!isPassing(reply) || attempt === TRIES) return answered(reply);
    } catch (error) {
      if (attempt === TRIES || !isReset(error)) throw error;
    }
    await pause(parts.loop, { ms: pauseMs, kind: "progress" });
  }
}

/** One that says when to come again wants to be asked again. */
function isPassing({ status, headers }: EgressReply): boolean {
  return PASSING.has(status) || (status >= 500 && headers.has("retry-after"));
}

/** Whoever refuses a connection, or is not whom it should be, does so the next time too. */
function isReset(error: unknown): boolean {
  for (let at = error; at instanceof Error; at = at.cause)
    if ("code" in at && at.code === "ECONNRESET") return true;
  return false;
}

function answered(reply: EgressReply): EgressReply {
  if (reply.status >= 200 && reply.status <= 299) return reply;
  throw new EgressError(`answered with code ${String(reply.status)}`);
}

/** An answer is kept for others too, whoever asked first. */
const NEVER = new AbortController().signal;

function call({ egress }: ReviewParts, server: ReviewServer, body: string): Promise<EgressReply> {
  const { url, ca, pair, headers, timeoutMs } = server;
  return egress.call({
    target: restTarget({ type: "url", url }),
    trust: { ca },
    pair,
    method: "POST",
    path: "",
    headers: { "content-type": "application/json", accept: "application/json", ...headers },
    body: Buffer.from(body),
    timeoutMs,
    replyBytesMax: REPLY_BYTES_MAX,
    signal: NEVER,
    isRepeatable: true,
  });
}
