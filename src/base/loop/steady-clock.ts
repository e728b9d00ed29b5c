import type { Loop } from "./loop.ts";

/** A larger difference between two readings means that the clock was set; a smaller one is drift. */
const CLOCK_WAS_SET_MS = 1000;

/**
 * A wall clock for timers that ignores steps back: a lease is renewed every ten seconds even after the clock was set
 * back by an hour.
 *
 * Example: at 12:00 a timer is set for 12:10. At 12:05 the clock is set to 11:05. At 11:10 the steady time is 12:10.
 */
export class SteadyClock {
  /** Wall clock minus monotonic clock at the last reading. */
  #offset: number;
  /** Time by which the clock was set back and not forward again. Never negative. */
  #setBackMs = 0;

  constructor(now: number, elapsed: number) {
    this.#offset = now - elapsed;
  }

  /** Reads both clocks; returns the difference between steady time and wall clock. */
  correction(now: number, elapsed: number): number {
    const changeMs = now - elapsed - this.#offset;
    this.#offset = now - elapsed;
    if (Math.abs(changeMs) >= CLOCK_WAS_SET_MS) this.#setBackMs = Math.max(0, this.#setBackMs - changeMs);
    return this.#setBackMs;
  }
}

/**
 * Steady time of a loop, for components that keep many due times and set one timer for the earliest. A due time kept
 * as wall time would be wrong after a step back.
 */
export class SteadyTime {
  readonly #loop: Loop;
  readonly #clock: SteadyClock;

  constructor(loop: Loop) {
    this.#loop = loop;
    this.#clock = new SteadyClock(loop.now(), loop.elapsed());
  }

  get now(): number {
    return this.of(this.#loop.now());
  }

  /** Converts a current time of the loop to steady time. */
  of(at: number): number {
    return at + this.#clock.correction(this.#loop.now(), this.#loop.elapsed());
  }

  /** Converts steady time to the loop's time, valid until its clock is set. */
  toLoop(steady: number): number {
    return steady - this.#clock.correction(this.#loop.now(), this.#loop.elapsed());
  }
}
