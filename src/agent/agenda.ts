/** Schedules thousands of calls with only two timers of the loop: one for progress, one for periodic work. */
import { TimerHeap, type DueEntry } from "../base/loop/loop-timers.ts";
import type { Loop, Timer, TimerKind } from "../base/loop/loop.ts";
import { SteadyTime } from "../base/loop/steady-clock.ts";

/** Upper bound of the calls in one step of the loop; the rest follows in the next step. */
const SLICE = 200;

/** `at` is a steady time, which changes of the clock do not affect. */
export interface Appointment extends DueEntry {
  readonly kind: TimerKind;
  /** Undefined once called or cancelled, so that its closure can be collected. */
  act: (() => void) | undefined;
}

interface Book {
  readonly heap: TimerHeap<Appointment>;
  timer: Timer | undefined;
  timerAt: number;
}

export class Agenda {
  readonly #loop: Loop;
  readonly #time: SteadyTime;
  readonly #books: Readonly<Record<TimerKind, Book>> = { progress: emptyBook(), periodic: emptyBook() };
  #lastTie = 0;
  #hasEnded = false;

  constructor(loop: Loop) {
    this.#loop = loop;
    this.#time = new SteadyTime(loop);
  }

  /** Calls `act` once, not before `at`. */
  add(at: number, kind: TimerKind, act: () => void): Appointment {
    const steady = this.#time.of(at);
    const appointment: Appointment = { at: steady, kind, act, tie: ++this.#lastTie, index: -1 };
    const book = this.#books[kind];
    book.heap.add(appointment);
    if (book.heap.next === appointment) this.#arm(kind);
    return appointment;
  }

  /** No-op for a finished appointment. */
  cancel(appointment: Appointment | undefined): void {
    if (appointment === undefined || appointment.index < 0) return;
    appointment.act = undefined;
    this.#books[appointment.kind].heap.remove(appointment);
    // A virtual loop must not wait for a cancelled call.
    if (this.#books[appointment.kind].timerAt === appointment.at) this.#arm(appointment.kind);
  }

  end(): void {
    this.#hasEnded = true;
    for (const book of Object.values(this.#books)) book.timer?.cancel();
  }

  #arm(kind: TimerKind): void {
    const book = this.#books[kind];
    const { next } = book.heap;
    if (this.#hasEnded || (book.timer !== undefined && book.timerAt === next?.at)) return;
    book.timer?.cancel();
    book.timer = undefined;
    if (next === undefined) return;
    book.timerAt = next.at;
    book.timer = this.#loop.timer(this.#time.toLoop(next.at), kind, () => this.#fire(kind));
  }

  #fire(kind: TimerKind): void {
    const book = this.#books[kind];
    book.timer = undefined;
    const now = Math.max(this.#time.now, book.timerAt);
    for (let left = SLICE; left > 0 && !this.#hasEnded; left--) {
      const due = book.heap.takeDue(now);
      if (due === undefined) break;
      const { act } = due;
      due.act = undefined;
      act?.();
    }
    this.#arm(kind);
  }
}

function emptyBook(): Book {
  return { heap: new TimerHeap(), timer: undefined, timerAt: 0 };
}
