import type { Cause } from "../../api/causes/cause.ts";
/** Keys that become ready later. One timer serves all of them. */
import { TimerHeap } from "../../base/loop/loop-timers.ts";
import type { Loop, Timer, TimerKind } from "../../base/loop/loop.ts";
import { SteadyTime } from "../../base/loop/steady-clock.ts";

interface DelayedKey {
  readonly key: string;
  readonly cause: Cause;
  /** Time on the steady clock. */
  readonly at: number;
  readonly tie: number;
  index: number;
}

interface DelayedKeysOptions {
  readonly loop: Loop;
  readonly kind: TimerKind;
  readonly onDue: (key: string, cause: Cause) => void;
}

export class DelayedKeys {
  readonly #options: DelayedKeysOptions;
  readonly #heap = new TimerHeap<DelayedKey>();
  readonly #byKey = new Map<string, DelayedKey>();
  readonly #time: SteadyTime;
  #timer: { readonly at: number; readonly timer: Timer } | undefined;
  #added = 0;

  constructor(options: DelayedKeysOptions) {
    this.#options = options;
    this.#time = new SteadyTime(options.loop);
  }

  get size(): number {
    return this.#byKey.size;
  }

  /** The earlier of two times for one key counts. */
  add(key: string, due: number, cause: Cause): void {
    const at = this.#time.of(due);
    const known = this.#byKey.get(key);
    if (known !== undefined) {
      if (known.at <= at) return;
      this.#heap.remove(known);
    }
    const entry = { key, cause, at, tie: this.#added++, index: -1 };
    this.#byKey.set(key, entry);
    this.#heap.add(entry);
    this.#schedule();
  }

  delete(key: string): void {
    if (this.#byKey.size === 0) return;
    const known = this.#byKey.get(key);
    if (known === undefined) return;
    this.#byKey.delete(key);
    this.#heap.remove(known);
    this.#schedule();
  }

  clear(): void {
    for (const key of [...this.#byKey.keys()]) this.delete(key);
  }

  #schedule(): void {
    const at = this.#heap.next?.at;
    if (this.#timer?.at === at) return;
    this.#timer?.timer.cancel();
    const { loop, kind } = this.#options;
    if (at === undefined) this.#timer = undefined;
    else this.#timer = { at, timer: loop.timer(this.#time.toLoop(at), kind, () => this.#fire(at)) };
  }

  /** Fires all keys due at the timer's time, even if the timer is early. */
  #fire(at: number): void {
    this.#timer = undefined;
    const now = Math.max(at, this.#time.now);
    for (let due = this.#heap.takeDue(now); due !== undefined; due = this.#heap.takeDue(now)) {
      this.#byKey.delete(due.key);
      this.#options.onDue(due.key, due.cause);
    }
    this.#schedule();
  }
}
