/**
 * Refuses the calls of a client that was stopped. Code that retries in `for (;;) try … catch` ignores the abort: without
 * a step in between it would block the loop for ever, and with one it would use all CPU.
 */
import type { Loop } from "../base/loop/loop.ts";

/** More calls than code makes that ends when it is stopped. Later ones never settle. */
const REFUSED_MAX = 1000;

export class StoppedCalls {
  readonly #loop: Loop;
  /** Number of refused calls by aborted signal. */
  readonly #refused = new WeakMap<AbortSignal, number>();

  constructor(loop: Loop) {
    this.#loop = loop;
  }

  /** Rejects with the reason of the aborted signal, in a later step. */
  async refuse(signals: readonly AbortSignal[]): Promise<never> {
    const signal = signals.find(({ aborted }) => aborted);
    const count = signal === undefined ? 0 : (this.#refused.get(signal) ?? 0) + 1;
    if (signal !== undefined) this.#refused.set(signal, count);
    if (count > REFUSED_MAX) return await new Promise<never>(() => undefined);
    await this.nextStep();
    throw signal?.reason ?? new Error("the client was stopped");
  }

  nextStep(): Promise<void> {
    return new Promise((resolve) => this.#loop.post("background", resolve));
  }
}
