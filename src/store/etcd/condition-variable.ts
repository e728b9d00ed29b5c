/** Lets callers wait until memory shows a state that etcd already has. */
import type { Loop, Timer } from "../../base/loop/loop.ts";

interface Waiter {
  readonly isMet: () => boolean;
  readonly settle: (isMet: boolean) => void;
  readonly timer: Timer;
}

export class ConditionVariable {
  readonly #loop: Loop;
  readonly #waiters = new Set<Waiter>();

  constructor(loop: Loop) {
    this.#loop = loop;
  }

  /** Resolves with true once the condition holds, with false at the deadline (by Loop.now). */
  async wait(isMet: () => boolean, deadline: number): Promise<boolean> {
    if (isMet()) return true;
    return await new Promise((resolve) => {
      const settle = (result: boolean): void => {
        waiter.timer.cancel();
        this.#waiters.delete(waiter);
        resolve(result);
      };
      const timer = this.#loop.timer(deadline, "progress", () => settle(isMet()));
      const waiter: Waiter = { isMet, settle, timer };
      this.#waiters.add(waiter);
    });
  }

  /** Evaluates the conditions; called after every change that they may depend on. */
  check(): void {
    for (const waiter of this.#waiters) if (waiter.isMet()) waiter.settle(true);
  }

  /** Ends all waits with false. */
  close(): void {
    for (const waiter of this.#waiters) waiter.settle(waiter.isMet());
  }
}
