/**
 * Things that are due at some time, thousands of them, on two timers of the loop: one for what is still to be done, one for what comes again
 * for ever.
 */
import { TimerHeap, type DueEntry } from "../base/loop/loop-timers.ts";
import type { Loop, Timer, TimerKind } from "../base/loop/loop.ts";
import { SteadyTime } from "../base/loop/steady-clock.ts";

/** Appointments kept in one step of the loop; what is left of a moment follows in the next. */
const SLICE = 200;

/** At a steady time. */
export interface Appointment extends DueEntry {
  readonly kind: TimerKind;
  /** Gone once it was called or cancelled, with whatever it holds. */
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

  /** Harmless for one that is over. */
  cancel(appointment: Appointment | undefined): void {
    if (appointment === undefined || appointment.index < 0) return;
    appointment.act = undefined;
    this.#books[appointment.kind].heap.remove(appointment);
    // A world shall not wait for what is no longer to come.
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
