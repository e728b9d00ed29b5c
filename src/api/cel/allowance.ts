/**
 * What expressions that belong together may cost. Two things are counted: cost by the rules of Kubernetes, so that what is accepted and what is
 * refused is the same as there; and effort, the part of it that is work of this process, so that no object keeps everybody else waiting.
 */
import { CelBudgetError } from "./cel-error.ts";
import { CALL_BUDGET, type Bindings, type Program } from "./program.ts";
import { Run } from "./run.ts";
import type { CelValue } from "./value.ts";

/** As Kubernetes' for all expressions of one policy, and all rules of one object. */
export const COST_MAX = 10_000_000;

/**
 * For all expressions of one request, or all rules of one object. A unit of work takes up to 100 ns on a machine of today, most take less:
 * this is a twentieth of a second.
 */
const EFFORT_MAX = 500_000;

/** Shared by everything that is evaluated for one request. */
export class Effort {
  left = EFFORT_MAX;
}

export class Allowance {
  readonly #effort: Effort;
  /** Evaluations under way: an expression may need a variable, which is one of its own. */
  readonly #running: Run[] = [];
  #left: number;
  #share = 0;

  constructor(cost: number, effort: Effort) {
    this.#left = cost;
    this.#effort = effort;
  }

  /** Nothing more can be evaluated. Otherwise it was a single expression that cost too much. */
  get isSpent(): boolean {
    return this.#left < 0 || this.#effort.left < 0;
  }

  /** Which part of all effort the last evaluation took: whether it alone was too much. */
  get lastShare(): number {
    return this.#share;
  }

  /** Throws as a program does. */
  evaluate(program: Program, bindings: Bindings): CelValue {
    return this.within((run) => program.runIn(run, bindings));
  }

  /** Counts what the step counts. */
  within<T>(step: (run: Run) => T): T {
    const run = this.#begin();
    this.#running.push(run);
    try {
      return step(run);
    } finally {
      this.#running.pop();
      this.#left -= run.cost;
      this.#effort.left -= run.effort;
      this.#share = run.effort / EFFORT_MAX;
    }
  }

  #begin(): Run {
    let cost = this.#left;
    let effort = this.#effort.left;
    for (const run of this.#running) {
      cost -= run.cost;
      effort -= run.effort;
    }
    if (cost < 0 || effort < 0) throw new CelBudgetError();
    return new Run(effort, Math.min(CALL_BUDGET, cost));
  }
}
