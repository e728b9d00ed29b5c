/**
 * Serves watchers one after the other and batches their events. A served watcher waits a moment, so that later events
 * reach it in one piece: a socket write costs several times as much as an event. A quiet watcher is served at once.
 */
import type { Loop } from "../../base/loop/loop.ts";

/** A quarter of the allowed 99th-percentile delay of events. */
const MOMENT_MS = 5;
/** Several times the cost of serving one watcher. More watchers wait longer, which leaves time for writes and reads. */
const MOMENT_MS_PER_WATCHER = 0.04;
/** Half of the allowed 99th-percentile delay of events. */
const MOMENT_MS_MAX = 10;
/**
 * After this time the loop runs other steps. Several hundred watchers fit in one turn: repeating the same work is
 * faster. With turns of 2 ms the last of 500 got its events a third later.
 */
const TURN_MS = 10;

/** A watcher that is served. */
export interface Listener {
  /** Delivers the waiting events. False when there were none, so that it need not wait next time. Does not throw. */
  serve(): boolean;
}

type Clock = Pick<Loop, "elapsed" | "now" | "post" | "timer">;

export class WatchBatcher {
  readonly #loop: Clock;
  /** Served in the next posted step. */
  readonly #due = new Set<Listener>();
  /** Listeners served in the current moment. */
  #served = new Set<Listener>();
  /** Served listeners with new events. */
  #waiting = new Set<Listener>();
  #isPosted = false;
  #isMoment = false;

  constructor(loop: Clock) {
    this.#loop = loop;
  }

  /** Schedules the listener, never synchronously. Repeated calls before it is served have no effect. */
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
      // Added first: `serve` may enlist the listener again, which must then wait.
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
