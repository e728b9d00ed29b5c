/**
 * Bounds the cost of expressions that are evaluated together. It counts two things. Cost follows Kubernetes' rules, so that
 * both accept the same expressions. Effort is the part of the cost that this process works for, so that no object delays
 * other requests.
 */
import { CelBudgetError } from "./cel-error.ts";
import { CALL_BUDGET, type Bindings, type Program } from "./program.ts";
import { Run } from "./run.ts";
import type { CelValue } from "./value.ts";

/** Bound as in Kubernetes, for all expressions of one policy and for all rules of one object. */
export const COST_MAX = 10_000_000;

/**
 * Bound for all expressions of one request, or all rules of one object. A unit of work takes up to 100 ns on a current
 * machine, mostly less: the bound is 50 ms.
 */
const EFFORT_MAX = 500_000;

/** Remaining effort, shared by all evaluations for one request. */
export class Effort {
  left = EFFORT_MAX;
}

export class Allowance {
  readonly #effort: Effort;
  /** Evaluations in progress. They nest: an expression may need a variable, which is evaluated on its own. */
  readonly #running: Run[] = [];
  #left: number;
  #share = 0;

  constructor(cost: number, effort: Effort) {
    this.#left = cost;
    this.#effort = effort;
  }

  /** True when no further expression can run. False after a CelBudgetError if only a single expression was too expensive. */
  get isSpent(): boolean {
    return this.#left < 0 || this.#effort.left < 0;
  }

  /** Share of all effort that the last evaluation took; tells whether that one alone was too expensive. */
  get lastShare(): number {
    return this.#share;
  }

  /** Evaluates a program. Throws the program's errors. */
  evaluate(program: Program, bindings: Bindings): CelValue {
    return this.within((run) => program.runIn(run, bindings));
  }

  /** Runs the step and subtracts its cost and effort. */
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
