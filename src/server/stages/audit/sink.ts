/** Where audit events go. Nobody waits for it: what cannot be taken any more is dropped, and counted. */
import type { Log } from "../../../base/log/log.ts";
import type { Loop } from "../../../base/loop/loop.ts";
import { pause } from "../../../base/loop/pause.ts";
import type { BoundCounter } from "../../../base/metrics/metrics.ts";

export interface AuditSink {
  /** One event as JSON, without a line end. Never throws. */
  offer(event: string): void;
  /** Resolves when everything that was taken is out, or given up. */
  close(): Promise<void>;
}

export interface SinkSurroundings {
  readonly loop: Loop;
  readonly log: Log;
  /** Counts events that were lost. */
  readonly lost: BoundCounter;
}

/** As upstream's buffers. */
const EVENTS_MAX = 10_000;
/** So that large objects do not take all memory while a disk or a webhook is slow. */
const CHARS_MAX = 64 << 20;
/** How often it is said that events are lost, at most. */
const SAY_EVERY_MS = 60_000;

/** Takes what waits, in order; rejects when it is lost. */
export type Deliver = (events: readonly string[]) => Promise<void>;

export interface QueueLimits {
  /** How many events are delivered together, at most. */
  readonly batchEvents: number;
  /** How long the first event of a batch waits for others; not at all unless given. */
  readonly lingerMs?: number;
}

/** A bounded queue in front of somebody who delivers batches, one at a time. */
export class QueuedSink implements AuditSink {
  readonly #deliver: Deliver;
  readonly #limits: QueueLimits;
  readonly #surroundings: SinkSurroundings;
  #waiting: string[] = [];
  #chars = 0;
  #delivering: Promise<void> | undefined;
  #saidAt = -Infinity;
  /** Aborted when nothing waits for company any more. */
  readonly #closing = new AbortController();

  constructor(deliver: Deliver, limits: QueueLimits, surroundings: SinkSurroundings) {
    this.#deliver = deliver;
    this.#limits = limits;
    this.#surroundings = surroundings;
  }

  offer(event: string): void {
    if (this.#waiting.length >= EVENTS_MAX || this.#chars + event.length > CHARS_MAX) {
      this.#lose(1, new Error("too many events wait to be written"));
      return;
    }
    this.#waiting.push(event);
    this.#chars += event.length;
    this.#delivering ??= this.#pump();
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await this.#delivering;
  }

  /** Never rejects. */
  async #pump(): Promise<void> {
    while (this.#waiting.length > 0) {
      await this.#linger();
      const batch = this.#take();
      try {
        await this.#deliver(batch);
      } catch (error) {
        this.#lose(batch.length, error);
      }
    }
    this.#delivering = undefined;
  }

  /** At least for what one step of the loop makes. */
  async #linger(): Promise<void> {
    const { batchEvents, lingerMs = 0 } = this.#limits;
    await Promise.resolve();
    if (lingerMs === 0 || this.#waiting.length >= batchEvents) return;
    await pause(this.#surroundings.loop, { ms: lingerMs, kind: "progress" }, this.#closing.signal);
  }

  #take(): readonly string[] {
    const batch = this.#waiting.slice(0, this.#limits.batchEvents);
    this.#waiting = this.#waiting.slice(batch.length);
    for (const event of batch) this.#chars -= event.length;
    return batch;
  }

  #lose(count: number, error: unknown): void {
    const { lost, log, loop } = this.#surroundings;
    lost.add(count);
    if (loop.elapsed() - this.#saidAt < SAY_EVERY_MS) return;
    this.#saidAt = loop.elapsed();
    log.error("audit events are lost", { count, error });
  }
}
