/**
 * Polls for the result of another thread in every turn of the event loop, for a bounded time. Waking a sleeping
 * thread may take longer than its work. Sockets, timers and steps run between polls.
 */
import type { Loop } from "./loop.ts";

export class Lookout {
  readonly #clock: Pick<Loop, "elapsed">;
  readonly #look: () => boolean;
  #until = 0;
  #isLooking = false;

  /** `look` runs once a turn and returns whether there is still something to wait for. */
  constructor(clock: Pick<Loop, "elapsed">, look: () => boolean) {
    this.#clock = clock;
    this.#look = look;
  }

  /** Polls for `forMs` from now on, or until nothing is left to wait for. Uses a whole core. */
  begin(forMs: number): void {
    this.#until = this.#clock.elapsed() + forMs;
    if (forMs > 0) this.#goOn();
  }

  #goOn(): void {
    if (this.#isLooking) return;
    this.#isLooking = true;
    setImmediate(this.#turn);
  }

  readonly #turn = (): void => {
    this.#isLooking = false;
    if (this.#look() && this.#clock.elapsed() < this.#until) this.#goOn();
  };
}
