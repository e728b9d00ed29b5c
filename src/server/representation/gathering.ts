/**
 * Serves watchers one after the other, and lets those that were just served wait a moment, so that what happens meanwhile reaches each in
 * one piece: a write to a socket costs several times as much as an event. A watcher that was quiet is served at once.
 */
import type { Loop } from "../../base/loop/loop.ts";

/** A quarter of the delay that the last event of a hundred may have. */
const MOMENT_MS = 5;
/** Several times what it takes to serve one watcher: the more there are, the longer they wait, so that time is left for changes, and for those who read. */
const MOMENT_MS_PER_WATCHER = 0.04;
/** Half of the delay that the last event of a hundred may have. */
const MOMENT_MS_MAX = 10;
/**
 * Then others have their turn before the next watcher is served. Several hundred are served in one go: the same work many times in a row takes less time,
 * and with turns of 2 ms the last of 500 got its events a third later.
 */
const TURN_MS = 10;

/** Who is served. */
export interface Listener {
  /** Gets what there is for it; false when there was nothing, so that it need not wait next time. Does not throw. */
  serve(): boolean;
}

type Clock = Pick<Loop, "elapsed" | "now" | "post" | "timer">;

export class Gathering {
  readonly #loop: Clock;
  /** To be served in a step that is posted. */
  readonly #due = new Set<Listener>();
  /** Those that were served in the moment that goes on. */
  #served = new Set<Listener>();
  /** Those among them for whom there is something again. */
  #waiting = new Set<Listener>();
  #isPosted = false;
  #isMoment = false;

  constructor(loop: Clock) {
    this.#loop = loop;
  }

  /** Has it served, never synchronously; once, however often it is asked before. */
  enlist(listener: Listener): void {
    if (this.#served.has(listener)) this.#waiting.add(listener);
    else {
      this.#due.add(listener);
      this.#post();
    }
  }

  #post(): void {
    if (this.#isPosted) return;
    this.#isPosted = true;
    this.#loop.post("request", () => {
      this.#isPosted = false;
      this.#serve();
    });
  }

  #serve(): void {
    const endAt = this.#loop.elapsed() + TURN_MS;
    for (const listener of this.#due) {
      this.#due.delete(listener);
      // First, so that it waits when there is more for it than it takes now.
      this.#served.add(listener);
      if (!listener.serve()) this.#served.delete(listener);
      if (this.#loop.elapsed() >= endAt) break;
    }
    if (this.#due.size > 0) this.#post();
    else if (this.#served.size > 0 && !this.#isMoment) this.#beginMoment();
  }

  #beginMoment(): void {
    this.#isMoment = true;
    const ms = Math.max(MOMENT_MS, Math.min(this.#served.size * MOMENT_MS_PER_WATCHER, MOMENT_MS_MAX));
    this.#loop.timer(this.#loop.now() + ms, "progress", () => this.#endMoment());
  }

  #endMoment(): void {
    this.#isMoment = false;
    this.#served = new Set();
    const waiting = this.#waiting;
    this.#waiting = new Set();
    for (const listener of waiting) this.#due.add(listener);
    if (this.#due.size > 0) this.#serve();
  }
}
