/**
 * Looks for what another thread shall bring, in every turn of the event loop and for a bounded time. A thread that sleeps has to be
 * woken, which may take longer than what it waits for. Sockets, timers and steps have their turns in between.
 */
import type { Loop } from "./loop.ts";

export class Lookout {
  readonly #clock: Pick<Loop, "elapsed">;
  readonly #look: () => boolean;
  #until = 0;
  #isLooking = false;

  /** `look` is called once a turn and answers whether there is still something to look for. */
  constructor(clock: Pick<Loop, "elapsed">, look: () => boolean) {
    this.#clock = clock;
    this.#look = look;
  }

  /** Looks for so long from now on, or until nothing is looked for any more. Costs a core meanwhile. */
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
