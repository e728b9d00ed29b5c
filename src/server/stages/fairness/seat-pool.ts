/**
 * The seats of all levels. A level always gets its own seats; beyond them it borrows what others may lend and have free at
 * this moment. Only for what takes one seat: one thread sends all long lists, so that more of them at once would only
 * delay each other. Who lent a seat and needs it does not wait for it, so that for a while there may be more requests under way
 * than the server has seats: at most as many more as may be lent.
 */
import type { PriorityLevel, Waiter } from "./priority-level.ts";

export class SeatPool {
  #levels: readonly PriorityLevel[] = [];
  /** Levels at which somebody waits. */
  readonly #crowded = new Set<PriorityLevel>();

  /** Those with limits. */
  use(levels: readonly PriorityLevel[]): void {
    this.#levels = levels;
    this.#serve();
  }

  /** Takes seats if nobody waits before. True exactly when they were taken; then `leave` is called once. */
  enter(level: PriorityLevel, seats: number): boolean {
    if (this.#crowded.has(level) || !this.#hasRoom(level, seats)) return false;
    level.enter(seats);
    return true;
  }

  leave(level: PriorityLevel, seats: number): void {
    level.leave(seats);
    if (this.#crowded.size > 0) this.#serve();
  }

  /** To be called when somebody was put into a queue of the level. */
  crowd(level: PriorityLevel): void {
    this.#crowded.add(level);
    this.#serve();
  }

  giveUp(level: PriorityLevel, waiter: Waiter): void {
    level.giveUp(waiter);
    this.#serve();
  }

  #serve(): void {
    for (const level of this.#crowded) {
      const hasRoom = ({ seats }: Waiter): boolean => this.#hasRoom(level, seats);
      for (let turn = level.next(hasRoom); turn !== undefined; turn = level.next(hasRoom)) {
        const { waiter, end } = turn;
        level.enter(waiter.seats);
        waiter.grant(() => {
          end();
          this.leave(level, waiter.seats);
        });
      }
      if (level.waiting === 0) this.#crowded.delete(level);
    }
  }

  #hasRoom(level: PriorityLevel, seats: number): boolean {
    const { seatsInUse, executing, limits } = level;
    // What is wider than its level must go some time.
    if (executing === 0 || seatsInUse + seats <= limits.nominal) return true;
    if (seats > 1 || seatsInUse + seats > limits.nominal + limits.borrowable) return false;
    return this.#free(level) > 0;
  }

  /** What the others may lend and do not need, less what is lent already. */
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
