/** Sends batches of audit events to a webhook as an EventList. */
import { backoffMs } from "../../../base/loop/backoff.ts";
import { pause } from "../../../base/loop/pause.ts";
import type { Egress } from "../../egress/egress.ts";
import { restTarget } from "../../egress/rest-target.ts";
import { QueuedSink } from "./sink.ts";
import type { AuditSink, SinkSurroundings } from "./sink.ts";

export interface WebhookEndpoint {
  readonly url: string;
  /** PEM of the webhook's CA. */
  readonly ca: string | undefined;
  readonly pair: { readonly cert: string; readonly key: string } | undefined;
  readonly headers: Readonly<Record<string, string>>;
}

/** Upstream's largest batch. */
const BATCH_EVENTS = 400;
/** Time for which the first event of a batch waits for others. */
const LINGER_MS = 1000;
const TIMEOUT_MS = 10_000;
/** The reply's body is ignored. */
const REPLY_BYTES_MAX = 64 << 10;
const TRIES_MAX = 4;
const BACKOFF = { baseMs: 1000, maxMs: 10_000 };
/** A server that shuts down waits no longer than this for the webhook. */
const CLOSING_MS = 2000;

export function webhookSink(
  endpoint: WebhookEndpoint,
  egress: Egress,
  surroundings: SinkSurroundings,
): AuditSink {
  const { loop } = surroundings;
  const delivery = new Delivery(endpoint, egress, surroundings);
  const queue = { batchEvents: BATCH_EVENTS, lingerMs: LINGER_MS };
  const sink = new QueuedSink((events) => delivery.send(events), queue, surroundings);
  return {
    offer: (event) => sink.offer(event),
    close: async () => {
      const timer = loop.timer(loop.now() + CLOSING_MS, "progress", () => delivery.giveUp());
      delivery.hurry();
      await sink.close();
      timer.cancel();
    },
  };
}

class Delivery {
  readonly #endpoint: WebhookEndpoint;
  readonly #egress: Egress;
  readonly #surroundings: SinkSurroundings;
  /** Aborted when no further retry is allowed. */
  readonly #hurrying = new AbortController();
  readonly #ending = new AbortController();

  constructor(endpoint: WebhookEndpoint, egress: Egress, surroundings: SinkSurroundings) {
    this.#endpoint = endpoint;
    this.#egress = egress;
    this.#surroundings = surroundings;
  }

  hurry(): void {
    this.#hurrying.abort();
  }

  giveUp(): void {
    this.#ending.abort();
  }

  /** Rejects when the events are lost. A webhook that responds late may get them twice, as from upstream. */
  async send(events: readonly string[]): Promise<void> {
    const { loop } = this.#surroundings;
    const body = Buffer.from(
      `{"kind":"EventList","apiVersion":"audit.k8s.io/v1","metadata":{},"items":[${events.join(",")}]}`,
    );
    const random = loop.random("audit-webhook");
    for (let failures = 0; ; failures++) {
      try {
        return await this.#post(body);
      } catch (error) {
        if (failures + 1 === TRIES_MAX || this.#hurrying.signal.aborted) throw error;
        const ms = backoffMs(failures, BACKOFF, random);
        await pause(loop, { ms, kind: "progress" }, this.#hurrying.signal);
      }
    }
  }

  async #post(body: Uint8Array): Promise<void> {
    const { url, ca, pair, headers } = this.#endpoint;
    const { status } = await this.#egress.call({
      target: restTarget({ type: "url", url }),
      trust: { ca },
      pair,
      method: "POST",
      path: "",
      headers: { "content-type": "application/json", ...headers },
      body,
      timeoutMs: TIMEOUT_MS,
      replyBytesMax: REPLY_BYTES_MAX,
      signal: this.#ending.signal,
    });
    if (status < 200 || status > 299) throw new Error(`the audit webhook answered with ${String(status)}`);
  }
}
