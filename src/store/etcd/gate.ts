/** Where those wait who need memory to show something that etcd already knows. */
import type { Loop, Timer } from "../../base/loop/loop.ts";

interface Waiter {
  readonly isMet: () => boolean;
  readonly settle: (isMet: boolean) => void;
  readonly timer: Timer;
}

export class Gate {
  readonly #loop: Loop;
  readonly #waiters = new Set<Waiter>();

  constructor(loop: Loop) {
    this.#loop = loop;
  }

  /** True as soon as the condition is met, false when it was not by the deadline (by Loop.now). */
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

  /** To be called after every change that a condition may depend on. */
  check(): void {
    for (const waiter of this.#waiters) if (waiter.isMet()) waiter.settle(true);
  }

  /** Nobody waits any longer. */
  close(): void {
    for (const waiter of this.#waiters) waiter.settle(waiter.isMet());
  }
}
