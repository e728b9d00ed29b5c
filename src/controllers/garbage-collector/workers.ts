/** Processes keys concurrently until the signal is aborted. A failed key is retried with its own back-off. */
import { isApiError } from "../../api/errors/api-error.ts";
import type { Log } from "../../base/log/log.ts";
import type { Loop } from "../../base/loop/loop.ts";
import { WorkQueue } from "../../runtime/queue/work-queue.ts";
import type { ProcessResult } from "./collector.ts";

/** Number of workers in upstream's collector. */
const CONCURRENCY = 20;
/** Interval of checks while an owner's state is unknown. */
const UNSETTLED_MS = 300_000;
const RETRY = { baseMs: 5, maxMs: 300_000 };

export interface WorkersOptions {
  readonly loop: Loop;
  readonly log: Log;
  readonly process: (key: string) => Promise<ProcessResult>;
}

export class Workers {
  readonly #options: WorkersOptions;
  readonly #queue: WorkQueue;
  /** Keys whose last check left an owner's state unknown. */
  readonly #unsettled = new Set<string>();
  #posted = 0;
  #working = 0;
  #running: { readonly signal: AbortSignal; readonly end: () => void } | undefined;

  constructor(options: WorkersOptions) {
    this.#options = options;
    this.#queue = new WorkQueue({ loop: options.loop, retry: RETRY, onReady: () => this.#pump() });
  }

  add(key: string): void {
    this.#queue.add(key, { type: "timer" });
  }

  /** Checks unsettled keys again, after new information. */
  addUnsettled(): void {
    for (const key of this.#unsettled) this.add(key);
    this.#unsettled.clear();
  }

  /** Starts with the keys already added. Resolves once the signal is aborted and no key is in flight. */
  async run(signal: AbortSignal): Promise<void> {
    const ended = new Promise<void>((resolve) => {
      this.#running = { signal, end: resolve };
    });
    const stop = (): void => this.#endIfIdle();
    signal.addEventListener("abort", stop, { once: true });
    this.#pump();
    this.#endIfIdle();
    await ended;
    signal.removeEventListener("abort", stop);
    this.#queue.clear();
  }

  #pump(): void {
    if (this.#running === undefined || this.#running.signal.aborted) return;
    while (this.#posted + this.#working < CONCURRENCY && this.#posted < this.#queue.depth) {
      this.#posted++;
      this.#options.loop.post("loop", () => this.#takeOne());
    }
  }

  #takeOne(): void {
    this.#posted--;
    const item = this.#running?.signal.aborted === false ? this.#queue.take() : undefined;
    if (item === undefined) return this.#endIfIdle();
    this.#working++;
    void this.#work(item.key);
  }

  async #work(key: string): Promise<void> {
    const end = this.#options.loop.inFlight(`check ${key}`);
    try {
      const result = await this.#options.process(key);
      this.#queue.forget(key);
      this.#noteResult(key, result);
    } catch (error) {
      this.#noteFailure(key, error);
    }
    end();
    this.#queue.done(key);
    this.#working--;
    this.#pump();
    this.#endIfIdle();
  }

  #noteResult(key: string, result: ProcessResult): void {
    if (result === "settled") {
      this.#unsettled.delete(key);
      return;
    }
    this.#unsettled.add(key);
    this.#queue.addAfter(key, UNSETTLED_MS, "periodic");
  }

  #noteFailure(key: string, error: unknown): void {
    if (this.#running?.signal.aborted === true) return;
    const retryAfterMs = Math.round(this.#queue.retry(key));
    // A conflict is expected: it reveals that another client changed the object.
    const level = isApiError(error, "Conflict") ? "debug" : "warn";
    this.#options.log[level]("cannot collect an object; retrying", {
      uid: key,
      retryAfterMs,
      error,
    });
  }

  #endIfIdle(): void {
    if (this.#running?.signal.aborted === true && this.#posted + this.#working === 0) this.#running.end();
  }
}
