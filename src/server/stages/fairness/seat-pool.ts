/**
 * The seats of all levels. A level always gets its own seats, and borrows free seats of other levels. Only requests for
 * one seat borrow: one thread sends all long lists, so more of them would delay each other. A level does not wait for
 * the seats that it lent. So the seats in use may exceed the total by the number of lendable ones.
 */
import type { PriorityLevel, Waiter } from "./priority-level.ts";

export class SeatPool {
  #levels: readonly PriorityLevel[] = [];
  /** Levels with waiting requests. */
  readonly #queuing = new Set<PriorityLevel>();

  /** Sets the levels with limits. */
  use(levels: readonly PriorityLevel[]): void {
    this.#levels = levels;
    this.#serve();
  }

  /** Takes seats if no request waits. True exactly when taken; then `leave` must be called once. */
  enter(level: PriorityLevel, seats: number): boolean {
    if (this.#queuing.has(level) || !this.#hasRoom(level, seats)) return false;
    level.enter(seats);
    return true;
  }

  leave(level: PriorityLevel, seats: number): void {
    level.leave(seats);
    if (this.#queuing.size > 0) this.#serve();
  }

  /** Serves the level as soon as it has room. Call after a request was queued there. */
  noteQueued(level: PriorityLevel): void {
    this.#queuing.add(level);
    this.#serve();
  }

  giveUp(level: PriorityLevel, waiter: Waiter): void {
    level.giveUp(waiter);
    this.#serve();
  }

  #serve(): void {
    for (const level of this.#queuing) {
      const hasRoom = ({ seats }: Waiter): boolean => this.#hasRoom(level, seats);
      for (let turn = level.next(hasRoom); turn !== undefined; turn = level.next(hasRoom)) {
        const { waiter, end } = turn;
        level.enter(waiter.seats);
        waiter.grant(() => {
          end();
          this.leave(level, waiter.seats);
        });
      }
      if (level.waiting === 0) this.#queuing.delete(level);
    }
  }

  #hasRoom(level: PriorityLevel, seats: number): boolean {
    const { seatsInUse, executing, limits } = level;
    // A request wider than its level must run at some time.
    if (executing === 0 || seatsInUse + seats <= limits.nominal) return true;
    if (seats > 1 || seatsInUse + seats > limits.nominal + limits.borrowable) return false;
    return this.#free(level) > 0;
  }

  /** Seats that the others may lend and do not need, minus the lent ones. */
  #free(borrower: PriorityLevel): number {
    let free = 0;
    for (const level of this.#levels) {
      const { limits, seatsInUse, waitingSeats } = level;
      const left = limits.nominal - seatsInUse - waitingSeats;
      if (left < 0) free -= Math.max(0, seatsInUse - limits.nominal);
      else if (level !== borrower) free += Math.min(left, limits.lendable);
    }
    return free;
  }
}
