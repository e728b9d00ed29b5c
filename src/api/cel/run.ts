/** One evaluation under way: its variables, and what it has cost. */
import { CelBudgetError } from "./cel-error.ts";
import type { CelValue } from "./value.ts";

export class Run {
  /** Variables, by the number that the plan gave them. */
  readonly slots: (CelValue | undefined)[] = [];
  /** Everything that was counted. */
  cost = 0;
  /** By how much that is more than the work was; less than zero when the work was more. */
  aside = 0;
  #limit: number;
  readonly #ceiling: number;

  /** `limit` bounds the work, `ceiling` everything that is counted. */
  constructor(limit: number, ceiling = limit) {
    this.#limit = limit;
    this.#ceiling = ceiling;
  }

  /** Counts what is about to be done; throws when it would be too much. */
  charge(cost: number): void {
    this.cost += cost;
    if (this.cost > this.#limit) throw new CelBudgetError();
  }

  /** For what costs by the rules of Kubernetes and takes next to no time here. */
  chargeAside(cost: number): void {
    this.aside += cost;
    this.#limit = Math.min(this.#limit + cost, this.#ceiling);
    this.charge(cost);
  }

  /** For work that the rules of Kubernetes do not count: it makes nothing dearer, but leaves less time for the rest. */
  chargeEffort(effort: number): void {
    this.aside -= effort;
    this.#limit -= effort;
    this.charge(0);
  }

  /** For work on texts: a tenth of their length, as cel-go has it. */
  chargeText(length: number): void {
    this.charge(Math.ceil(length * 0.1));
  }
}
