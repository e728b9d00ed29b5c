/** Sends a token or access review to a webhook, and retries passing failures by upstream's rules. */
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

export interface ReviewCallParts {
  readonly loop: Loop;
  readonly egress: Egress;
}

/** A review is small; this leaves room for a long reason. */
const REPLY_BYTES_MAX = 1024 * 1024;
/** Upstream's backoff: long enough for a webhook that restarts. */
const TRIES = 5;
const FIRST_PAUSE_MS = 500;
const PAUSE_FACTOR = 1.5;
/** Internal error, gateway timeout, too many requests. */
const PASSING = new Set([500, 504, 429]);

/** Rejects with an EgressError, also for a status other than 2xx. */
export async function askReview(
  parts: ReviewCallParts,
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

/** True for responses that upstream retries; a Retry-After header asks for a retry. */
function isPassing({ status, headers }: EgressReply): boolean {
  return PASSING.has(status) || (status >= 500 && headers.has("retry-after"));
}

/** Only a reset connection is retried: a refused connection or a wrong certificate would fail again. */
function isReset(error: unknown): boolean {
  for (let at = error; at instanceof Error; at = at.cause)
    if ("code" in at && at.code === "ECONNRESET") return true;
  return false;
}

function answered(reply: EgressReply): EgressReply {
  if (reply.status >= 200 && reply.status <= 299) return reply;
  throw new EgressError(`answered with code ${String(reply.status)}`);
}

/** The call has no signal: its response is cached for other callers, also when the first one leaves. */
const NEVER = new AbortController().signal;

function call({ egress }: ReviewCallParts, server: ReviewServer, body: string): Promise<EgressReply> {
  const { url, ca, pair, headers, timeoutMs } = server;
  return egress.call({
    target: restTarget({ type: "url", url }),
    trust: { ca },
    pair,
    method: "POST",
    path: `?timeout=${secondsText(timeoutMs)}`,
    headers: { "content-type": "application/json", accept: "application/json", ...headers },
    body: Buffer.from(body),
    timeoutMs,
    replyBytesMax: REPLY_BYTES_MAX,
    signal: NEVER,
    isRepeatable: true,
  });
}

/** As Go writes a duration below a minute; client-go puts the timeout of its client into every request. */
function secondsText(ms: number): string {
  return ms < 1000 ? `${String(ms)}ms` : `${String(ms / 1000)}s`;
}
