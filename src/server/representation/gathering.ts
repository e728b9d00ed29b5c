/**
 * Serves watchers one after the other, and lets those that were just served wait a moment, so that what happens meanwhile reaches each in
 * one piece: a write to a socket costs several times as much as an event. A watcher that was quiet is served at once.
 */
import type { Loop } from "../../base/loop.ts";

/** A quarter of the delay that the last event of a hundred may have. */
const MOMENT_MS = 5;
/** A moment lasts at least so much of the time that serving all of them took, so that a third of all time is left for changes. */
const MOMENT_SHARE = 0.5;
const MOMENT_MS_MAX = 50;
/** Then others have their turn before the next watcher is served. */
const TURN_MS = 2;

/** Who is served. */
export interface Listener {
  /** Gets what there is for it; false when there was nothing. Does not throw. */
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
  /** What that took. */
  #servingMs = 0;
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
    const startedAt = this.#loop.elapsed();
    let ms = 0;
    for (const listener of this.#due) {
      this.#due.delete(listener);
      // First, so that it waits when there is more for it than it takes now.
      this.#served.add(listener);
      if (!listener.serve()) this.#served.delete(listener);
      ms = this.#loop.elapsed() - startedAt;
      if (ms >= TURN_MS) break;
    }
    this.#servingMs += ms;
    if (this.#due.size > 0) this.#post();
    else if (this.#served.size > 0 && !this.#isMoment) this.#beginMoment();
  }

  #beginMoment(): void {
    this.#isMoment = true;
    const ms = Math.min(Math.max(MOMENT_MS, this.#servingMs * MOMENT_SHARE), MOMENT_MS_MAX);
    this.#loop.timer(this.#loop.now() + ms, "progress", () => this.#endMoment());
  }

  #endMoment(): void {
    this.#isMoment = false;
    this.#served = new Set();
    this.#servingMs = 0;
    const waiting = this.#waiting;
    this.#waiting = new Set();
    for (const listener of waiting) this.#due.add(listener);
    if (this.#due.size > 0) this.#serve();
  }
}
