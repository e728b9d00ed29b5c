/**
 * Polls for the result of another thread in every turn of the event loop, for a bounded time. Waking a sleeping
 * thread may take longer than its work. Sockets, timers and steps run between polls.
 */
import type { Loop } from "./loop.ts";

export class TurnPoller {
  readonly #clock: Pick<Loop, "elapsed">;
  readonly #poll: () => boolean;
  #until = 0;
  #isScheduled = false;

  /** `poll` runs once a turn and returns whether there is still something to wait for. */
  constructor(clock: Pick<Loop, "elapsed">, poll: () => boolean) {
    this.#clock = clock;
    this.#poll = poll;
  }

  /** Polls for `forMs` from now on, or until nothing is left to wait for. Uses a whole core. */
  begin(forMs: number): void {
    this.#until = this.#clock.elapsed() + forMs;
    if (forMs > 0) this.#schedule();
  }

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(this.#turn);
  }

  readonly #turn = (): void => {
    this.#isScheduled = false;
    if (this.#poll() && this.#clock.elapsed() < this.#until) this.#schedule();
  };
}
