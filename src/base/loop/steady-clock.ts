import type { Loop } from "./loop.ts";

/** A difference this large between two looks is a clock that was set, a smaller one is drift. */
const CLOCK_WAS_SET_MS = 1000;

/**
 * The wall clock with its steps back taken out, as timers need it: a lease is renewed every ten seconds also in the
 * hour after somebody set the clock back by an hour.
 *
 * Example: 12:00 a timer for 12:10 is set. 12:05 the clock is set to 11:05. At 11:10 the steady time is 12:10.
 */
export class SteadyClock {
  /** Wall clock minus monotonic clock when last looked at. */
  #offset: number;
  /** How far the clock was set back and not forth again. Never negative. */
  #setBackMs = 0;

  constructor(now: number, elapsed: number) {
    this.#offset = now - elapsed;
  }

  /** Looks at both clocks; returns what to add to a time of the wall clock to get steady time. */
  correction(now: number, elapsed: number): number {
    const changeMs = now - elapsed - this.#offset;
    this.#offset = now - elapsed;
    if (Math.abs(changeMs) >= CLOCK_WAS_SET_MS) this.#setBackMs = Math.max(0, this.#setBackMs - changeMs);
    return this.#setBackMs;
  }
}

/**
 * The same of a loop, for who keeps many times and sets one timer for the next of them: a timer that is set after a step back does not know how
 * far away the time was when it was noted.
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

  /** Of a time by the loop as it is now. */
  of(at: number): number {
    return at + this.#clock.correction(this.#loop.now(), this.#loop.elapsed());
  }

  /** What the loop will call it, if its clock is not set before. */
  toLoop(steady: number): number {
    return steady - this.#clock.correction(this.#loop.now(), this.#loop.elapsed());
  }
}
