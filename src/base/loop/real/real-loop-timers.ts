import { performance } from "node:perf_hooks";
import { assert } from "../../assert.ts";
import { TimerHeap, type DueEntry } from "../loop-timers.ts";
import type { Step, Timer, TimerKind } from "../loop.ts";
import { SteadyClock } from "../steady-clock.ts";

/**
 * Upper bound of a sleep, so that the loop notices a clock set forward or a suspended machine. Also below Node's
 * limit of 2^31 ms.
 */
const MAX_SLEEP_MS = 60_000;

export interface TimerEntry extends DueEntry {
  readonly actor: string;
  readonly kind: TimerKind;
  /** Undefined after the timer ran or was cancelled. */
  step: Step | undefined;
}

/**
 * Timers on top of a single Node timer. Progress timers keep the process alive, because they are pending work;
 * periodic timers do not.
 */
export class RealTimers {
  readonly #onDue: (entry: TimerEntry) => void;
  readonly #heap = new TimerHeap<TimerEntry>();
  readonly #clock = new SteadyClock(Date.now(), performance.now());
  #count = 0;
  /** Number of progress timers that have not fired. */
  #progress = 0;
  #sleep: NodeJS.Timeout | undefined;
  #wakesAt = Infinity;

  constructor(onDue: (entry: TimerEntry) => void) {
    this.#onDue = onDue;
  }

  add({ at, kind, actor, step }: { at: number; kind: TimerKind; actor: string; step: Step }): Timer {
    assert(Number.isFinite(at), "a timer's time is a finite number");
    const now = Date.now();
    const correction = this.#clock.correction(now, performance.now());
    const entry: TimerEntry = { at: at + correction, kind, actor, step, tie: this.#count++, index: -1 };
    this.#heap.add(entry);
    this.#countProgress(entry, 1);
    if (entry.at < this.#wakesAt) this.#sleepUntil(entry.at, now + correction);
    return {
      cancel: () => {
        if (entry.index >= 0) this.#countProgress(entry, -1);
        entry.step = undefined;
        this.#heap.remove(entry);
      },
    };
  }

  /** Sleeps again when Node's timer is early by the wall clock; it can be early by a millisecond. */
  readonly #wake = (): void => {
    this.#wakesAt = Infinity;
    const now = Date.now();
    const steadyNow = now + this.#clock.correction(now, performance.now());
    for (let due = this.#heap.takeDue(steadyNow); due !== undefined; due = this.#heap.takeDue(steadyNow)) {
      this.#countProgress(due, -1);
      this.#onDue(due);
    }
    const { next } = this.#heap;
    if (next !== undefined) this.#sleepUntil(next.at, steadyNow);
  };

  #sleepUntil(at: number, steadyNow: number): void {
    clearTimeout(this.#sleep);
    const sleepMs = Math.min(Math.max(Math.ceil(at - steadyNow), 0), MAX_SLEEP_MS);
    this.#wakesAt = steadyNow + sleepMs;
    this.#sleep = setTimeout(this.#wake, sleepMs);
    if (this.#progress === 0) this.#sleep.unref();
  }

  #countProgress({ kind }: TimerEntry, change: 1 | -1): void {
    if (kind !== "progress") return;
    this.#progress += change;
    if (this.#progress === 0) this.#sleep?.unref();
    else this.#sleep?.ref();
  }
}
