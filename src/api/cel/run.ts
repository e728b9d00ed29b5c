/** One evaluation under way: its variables, and what it has cost. */
import { CelBudgetError } from "./cel-error.ts";
import type { CelValue } from "./value.ts";

export class Run {
  /** Variables, by the number that the plan gave them. */
  readonly slots: (CelValue | undefined)[] = [];
  readonly limit: number;
  cost = 0;

  constructor(limit: number) {
    this.limit = limit;
  }

  /** Counts what is about to be done; throws when it would be too much. */
  charge(cost: number): void {
    this.cost += cost;
    if (this.cost > this.limit) throw new CelBudgetError();
  }

  /** For work on texts: a tenth of their length, as cel-go has it. */
  chargeText(length: number): void {
    this.charge(Math.ceil(length * 0.1));
  }
}
