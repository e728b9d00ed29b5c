/** A sink of audit events. Requests do not wait for it: events beyond its bounds are dropped and counted. */
import type { Log } from "../../../base/log/log.ts";
import type { Loop } from "../../../base/loop/loop.ts";
import { pause } from "../../../base/loop/pause.ts";
import type { BoundCounter } from "../../../base/metrics/metrics.ts";

export interface AuditSink {
  /** Takes one event as JSON, without a line break. Never throws. */
  offer(event: string): void;
  /** Resolves when every accepted event is delivered or lost. */
  close(): Promise<void>;
}

export interface SinkSurroundings {
  readonly loop: Loop;
  readonly log: Log;
  /** Counts events that were lost. */
  readonly lost: BoundCounter;
}

/** The size of upstream's buffers. */
const EVENTS_MAX = 10_000;
/** Keeps large objects from using all memory while a disk or webhook is slow. */
const CHARS_MAX = 64 << 20;
/** Minimum interval between log messages about lost events. */
const SAY_EVERY_MS = 60_000;

/** Delivers a batch of events in order; rejects when the batch is lost. */
export type Deliver = (events: readonly string[]) => Promise<void>;

export interface SinkLimits {
  /** Largest batch. */
  readonly batchEvents: number;
  /** Time for which the first event of a batch waits for others; 0 by default. */
  readonly lingerMs?: number;
}

/** A bounded queue that delivers one batch at a time. */
export class QueuedSink implements AuditSink {
  readonly #deliver: Deliver;
  readonly #limits: SinkLimits;
  readonly #surroundings: SinkSurroundings;
  #waiting: string[] = [];
  #chars = 0;
  #delivering: Promise<void> | undefined;
  #saidAt = -Infinity;
  /** Aborted on close: batches no longer wait for more events. */
  readonly #closing = new AbortController();

  constructor(deliver: Deliver, limits: SinkLimits, surroundings: SinkSurroundings) {
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

  /** Waits at least for the other events of the same step of the loop. */
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
