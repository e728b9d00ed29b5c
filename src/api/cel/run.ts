/** One evaluation under way: its variables, what it has cost by upstream's rules, and how much work it was. */
import { CelBudgetError } from "./cel-error.ts";
import type { CelValue } from "./value.ts";

export class Run {
  /** Variables, by the number that the plan gave them. */
  readonly slots: (CelValue | undefined)[] = [];
  /** By the rules of Kubernetes: what is accepted there is accepted here. */
  cost = 0;
  /** The work of this process. */
  effort = 0;
  readonly #effortMax: number;
  readonly #costMax: number;

  constructor(effortMax: number, costMax = effortMax) {
    this.#effortMax = effortMax;
    this.#costMax = costMax;
  }

  /** Counts a step of an expression, which is some work too; throws when it is too much. */
  step(cost: number, effort = cost): void {
    this.cost += cost;
    this.effort += effort;
    if (this.cost > this.#costMax || this.effort > this.#effortMax) throw new CelBudgetError();
  }

  /** Counts work that is about to be done within a step; throws when it is too much. */
  charge(effort: number): void {
    this.step(0, effort);
  }

  /** Work on a text: a tenth of its length. */
  chargeText(length: number): void {
    this.step(0, Math.ceil(length * 0.1));
  }
}
