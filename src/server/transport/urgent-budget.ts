/** Bounds the urgent requests of each user, and of clients that are not verified. They go before all others. */
import type { QueueOwner } from "./queue-owner.ts";
import { RateBudget, type Rate } from "./rate-budget.ts";

/** For each user, and for each address with unverified clients: a few hundredths of the server's thread. */
const OWNER_RATE: Rate = { burst: 200, perSecond: 100 };
/** For all unverified clients together: a tenth of the thread, however many addresses they use. */
const UNVERIFIED_RATE: Rate = { burst: 1000, perSecond: 1000 };
/** Owners with a budget. The oldest one is evicted, and starts with a full budget when it returns. */
const OWNERS_MAX = 10_000;

export class UrgentBudget {
  readonly #budgets = new Map<string, RateBudget>();
  readonly #unverified: RateBudget;

  constructor(elapsedMs: number) {
    this.#unverified = new RateBudget(UNVERIFIED_RATE, elapsedMs);
  }

  /** False when the budget of the owner is used up. */
  take({ user, path }: QueueOwner, elapsedMs: number): boolean {
    if (user !== undefined) return this.#budgetOf(`user ${user}`, elapsedMs).take(elapsedMs);
    const address = this.#budgetOf(`address ${path[0] ?? ""}`, elapsedMs);
    return address.take(elapsedMs) && this.#unverified.take(elapsedMs);
  }

  #budgetOf(key: string, elapsedMs: number): RateBudget {
    const known = this.#budgets.get(key);
    if (known !== undefined) return known;
    if (this.#budgets.size >= OWNERS_MAX) {
      const [oldest] = this.#budgets.keys();
      if (oldest !== undefined) this.#budgets.delete(oldest);
    }
    const budget = new RateBudget(OWNER_RATE, elapsedMs);
    this.#budgets.set(key, budget);
    return budget;
  }
}
