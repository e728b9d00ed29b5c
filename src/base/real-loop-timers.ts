import { performance } from "node:perf_hooks";
import { assert } from "./assert.ts";
import { TimerHeap, type TimerEntry } from "./loop-timers.ts";
import type { Step, Timer, TimerKind } from "./loop.ts";

/** Longest sleep: a clock that was set forward, or a machine that slept, is noticed this soon. Also below Node's limit of 2^31 ms. */
const MAX_SLEEP_MS = 60_000;

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

/** Timers over one timer of Node. Progress timers keep the process alive: they are work to be done. Periodic ones do not. */
export class RealTimers {
  readonly #onDue: (entry: TimerEntry) => void;
  readonly #heap = new TimerHeap();
  readonly #clock = new SteadyClock(Date.now(), performance.now());
  #count = 0;
  /** Progress timers that have not fired. */
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

  /** Sleeps again when Node's timer was early by the wall clock, which it can be by a millisecond. */
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
