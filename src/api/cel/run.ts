/** State of one evaluation: its variables, its cost by upstream's rules, and its effort. */
import { CelBudgetError } from "./cel-error.ts";
import type { CelValue } from "./value.ts";

export class Run {
  /** Values of variables, by slot. */
  readonly slots: (CelValue | undefined)[] = [];
  /** Cost by Kubernetes' rules, so that both accept the same expressions. */
  cost = 0;
  /** Work of this process. */
  effort = 0;
  readonly #effortMax: number;
  readonly #costMax: number;

  constructor(effortMax: number, costMax = effortMax) {
    this.#effortMax = effortMax;
    this.#costMax = costMax;
  }

  /** Counts a step, which by default takes as much effort as it costs. Throws a CelBudgetError beyond the budget. */
  step(cost: number, effort = cost): void {
    this.cost += cost;
    this.effort += effort;
    if (this.cost > this.#costMax || this.effort > this.#effortMax) throw new CelBudgetError();
  }

  /** Counts work within a step, before it is done. Throws a CelBudgetError beyond the budget. */
  charge(effort: number): void {
    this.step(0, effort);
  }

  /** Counts work on a text: a tenth of its length. */
  chargeText(length: number): void {
    this.step(0, Math.ceil(length * 0.1));
  }
}
