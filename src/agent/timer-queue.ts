/** Schedules thousands of calls with only two timers of the loop: one for progress, one for periodic work. */
import { TimerHeap, type DueEntry } from "../base/loop/loop-timers.ts";
import type { Loop, Timer, TimerKind } from "../base/loop/loop.ts";
import { SteadyTime } from "../base/loop/steady-clock.ts";

/** Upper bound of the calls in one step of the loop; the rest follows in the next step. */
const SLICE = 200;

/** `at` is a steady time, which changes of the clock do not affect. */
export interface ScheduledCall extends DueEntry {
  readonly kind: TimerKind;
  /** Undefined once called or cancelled, so that its closure can be collected. */
  act: (() => void) | undefined;
}

interface KindQueue {
  readonly heap: TimerHeap<ScheduledCall>;
  timer: Timer | undefined;
  timerAt: number;
}

export class TimerQueue {
  readonly #loop: Loop;
  readonly #time: SteadyTime;
  readonly #queues: Readonly<Record<TimerKind, KindQueue>> = {
    progress: emptyQueue(),
    periodic: emptyQueue(),
  };
  #lastTie = 0;
  #hasEnded = false;

  constructor(loop: Loop) {
    this.#loop = loop;
    this.#time = new SteadyTime(loop);
  }

  /** Calls `act` once, not before `at`. */
  add(at: number, kind: TimerKind, act: () => void): ScheduledCall {
    const steady = this.#time.of(at);
    const call: ScheduledCall = { at: steady, kind, act, tie: ++this.#lastTie, index: -1 };
    const queue = this.#queues[kind];
    queue.heap.add(call);
    if (queue.heap.next === call) this.#arm(kind);
    return call;
  }

  /** No-op for a finished call. */
  cancel(call: ScheduledCall | undefined): void {
    if (call === undefined || call.index < 0) return;
    call.act = undefined;
    this.#queues[call.kind].heap.remove(call);
    // A virtual loop must not wait for a cancelled call.
    if (this.#queues[call.kind].timerAt === call.at) this.#arm(call.kind);
  }

  end(): void {
    this.#hasEnded = true;
    for (const queue of Object.values(this.#queues)) queue.timer?.cancel();
  }

  #arm(kind: TimerKind): void {
    const queue = this.#queues[kind];
    const { next } = queue.heap;
    if (this.#hasEnded || (queue.timer !== undefined && queue.timerAt === next?.at)) return;
    queue.timer?.cancel();
    queue.timer = undefined;
    // Infinity is a time that does not come.
    if (next === undefined || next.at === Infinity) return;
    queue.timerAt = next.at;
    queue.timer = this.#loop.timer(this.#time.toLoop(next.at), kind, () => this.#fire(kind));
  }

  #fire(kind: TimerKind): void {
    const queue = this.#queues[kind];
    queue.timer = undefined;
    const now = Math.max(this.#time.now, queue.timerAt);
    for (let left = SLICE; left > 0 && !this.#hasEnded; left--) {
      const due = queue.heap.takeDue(now);
      if (due === undefined) break;
      const { act } = due;
      due.act = undefined;
      act?.();
    }
    this.#arm(kind);
  }
}

function emptyQueue(): KindQueue {
  return { heap: new TimerHeap(), timer: undefined, timerAt: 0 };
}
