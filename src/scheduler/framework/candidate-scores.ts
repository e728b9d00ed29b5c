/** Scores the nodes that a pod fits on and chooses one. Its buffers are reused for each pod. */

import type { Random } from "../../base/loop/loop.ts";
import type { NodeInfo } from "../snapshot/node-info.ts";
import type { NodeFilterResults } from "./node-filter-results.ts";
import { normalizeScores } from "./normal-score.ts";
import type { SchedulingCycle, PluginName, SchedulerPlugin, Scorer } from "./scheduler-plugin.ts";

type Weights = Readonly<Partial<Record<PluginName, number>>>;

export class CandidateScores {
  readonly #clusterPlugins: readonly SchedulerPlugin[];
  readonly #weights: Weights;
  readonly #ties: Random;
  #totals = new Float64Array(0);
  #scores = new Float64Array(0);

  constructor(clusterPlugins: readonly SchedulerPlugin[], weights: Weights, ties: Random) {
    this.#clusterPlugins = clusterPlugins;
    this.#weights = weights;
    this.#ties = ties;
  }

  best(
    cycle: SchedulingCycle,
    candidates: readonly NodeInfo[],
    filterResults: NodeFilterResults,
  ): NodeInfo | undefined {
    if (candidates.length < 2) return candidates[0];
    this.#reset(candidates.length);
    for (const [index, { plugin, scorer }] of filterResults.scorers.entries()) {
      const scores = this.#scores;
      for (let i = 0; i < candidates.length; i++) {
        const node = candidates[i];
        if (node !== undefined) scores[i] = filterResults.score(index, node);
      }
      this.#weigh(plugin, scorer, candidates.length);
    }
    for (const plugin of this.#clusterPlugins) {
      const scorer = plugin.score?.(cycle, candidates);
      if (scorer === undefined) continue;
      const scores = this.#scores;
      for (let i = 0; i < candidates.length; i++) {
        const node = candidates[i];
        if (node !== undefined) scores[i] = scorer.score(node);
      }
      this.#weigh(plugin, scorer, candidates.length);
    }
    return candidates[this.#highest(candidates.length)];
  }

  #reset(count: number): void {
    if (this.#totals.length < count) {
      this.#totals = new Float64Array(count * 2);
      this.#scores = new Float64Array(count * 2);
    }
    this.#totals.fill(0, 0, count);
  }

  #weigh({ name }: SchedulerPlugin, { normal }: Scorer, count: number): void {
    const weight = this.#weights[name] ?? 1;
    normalizeScores(this.#scores, count, normal);
    for (let i = 0; i < count; i++) {
      this.#totals[i] = (this.#totals[i] ?? 0) + weight * (this.#scores[i] ?? 0);
    }
  }

  /** Chooses among equal scores with equal probability. */
  #highest(count: number): number {
    let most = -Infinity;
    let ties = 0;
    for (let i = 0; i < count; i++) {
      const total = this.#totals[i] ?? 0;
      if (total > most) {
        most = total;
        ties = 1;
      } else if (total === most) ties++;
    }
    let skip = ties > 1 ? this.#ties.below(ties) : 0;
    for (let i = 0; i < count; i++) {
      if (this.#totals[i] === most && skip-- === 0) return i;
    }
    return 0;
  }
}
