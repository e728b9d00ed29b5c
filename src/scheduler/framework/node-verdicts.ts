/**
 * What plugins that look at one node at a time have found out for pods of one shape. It holds until the node changes, so that the next pod
 * of the same shape costs one comparison for each node but the one that the last pod went to.
 */

import type { NodeInfo } from "../snapshot/node-info.ts";
import type { Cycle, Rejection, SchedulerPlugin, Scorer } from "./plugin.ts";

export interface NodeScorer {
  readonly plugin: SchedulerPlugin;
  readonly scorer: Scorer;
}

type Check = (node: NodeInfo) => Rejection | undefined;

export class NodeVerdicts {
  /** Nodes beyond these cannot pass. */
  readonly only: ReadonlySet<string> | undefined;
  /** Why some nodes are not looked at. */
  readonly narrowedBy: readonly SchedulerPlugin[];
  /** No node can pass. */
  readonly rejection: Rejection | undefined;
  readonly scorers: readonly NodeScorer[];
  readonly #checks: readonly Check[];
  /** By slot: the version of the node that the rejection is about. */
  #checked: Float64Array = new Float64Array(0);
  readonly #rejections: (Rejection | undefined)[] = [];
  /** By slot: the version of the node that the scores are about; and for each scorer the scores. */
  #scored: Float64Array = new Float64Array(0);
  #scores: readonly Float64Array[];

  constructor(plugins: readonly SchedulerPlugin[], cycle: Cycle) {
    const checks: Check[] = [];
    const narrowedBy: SchedulerPlugin[] = [];
    const scorers: NodeScorer[] = [];
    let only: ReadonlySet<string> | undefined;
    let rejection: Rejection | undefined;
    for (const plugin of plugins) {
      const answer = plugin.filter?.(cycle);
      if (answer?.type === "reject") rejection ??= answer.rejection;
      if (answer?.type === "check") {
        checks.push((node) => answer.check(node));
        if (answer.only !== undefined) narrowedBy.push(plugin);
        only = intersect(only, answer.only);
      }
      const scorer = plugin.score?.(cycle, []);
      if (scorer !== undefined) scorers.push({ plugin, scorer });
    }
    this.#checks = checks;
    this.#scores = scorers.map(() => new Float64Array(0));
    this.only = only;
    this.narrowedBy = narrowedBy;
    this.rejection = rejection;
    this.scorers = scorers;
  }

  check(node: NodeInfo): Rejection | undefined {
    const { slot, version } = node;
    if (this.#checked[slot] === version) return this.#rejections[slot];
    if (slot >= this.#checked.length) this.#checked = grown(this.#checked, slot);
    const rejection = this.#firstRejection(node);
    this.#checked[slot] = version;
    this.#rejections[slot] = rejection;
    return rejection;
  }

  /** The score of the scorer with this number in `scorers`. */
  score(index: number, node: NodeInfo): number {
    const { slot, version } = node;
    if (this.#scored[slot] !== version) this.#scoreAll(node);
    return this.#scores[index]?.[slot] ?? 0;
  }

  #firstRejection(node: NodeInfo): Rejection | undefined {
    for (const check of this.#checks) {
      const rejection = check(node);
      if (rejection !== undefined) return rejection;
    }
    return undefined;
  }

  #scoreAll(node: NodeInfo): void {
    const { slot, version } = node;
    if (slot >= this.#scored.length) {
      this.#scored = grown(this.#scored, slot);
      this.#scores = this.#scores.map((scores) => grown(scores, slot));
    }
    for (const [i, { scorer }] of this.scorers.entries()) {
      const scores = this.#scores[i];
      if (scores !== undefined) scores[slot] = scorer.score(node);
    }
    this.#scored[slot] = version;
  }
}

function grown(numbers: Float64Array, slot: number): Float64Array {
  const larger = new Float64Array(Math.max(64, numbers.length * 2, slot + 1));
  larger.set(numbers);
  return larger;
}

export function intersect(
  left: ReadonlySet<string> | undefined,
  right: ReadonlySet<string> | undefined,
): ReadonlySet<string> | undefined {
  if (left === undefined) return right;
  if (right === undefined) return left;
  return new Set([...left].filter((name) => right.has(name)));
}
