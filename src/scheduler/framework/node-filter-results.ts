/**
 * Results of plugins of scope `node` for pods of one shape.
 *
 * A result holds until the node changes. The next pod of the same shape costs one comparison per node; only the last pod's node is computed
 * anew.
 */

import type { NodeInfo } from "../snapshot/node-info.ts";
import type { SchedulingCycle, Rejection, SchedulerPlugin, Scorer } from "./scheduler-plugin.ts";

export interface NodeScorer {
  readonly plugin: SchedulerPlugin;
  readonly scorer: Scorer;
}

type Check = (node: NodeInfo) => Rejection | undefined;

export class NodeFilterResults {
  /** If defined, only these nodes can pass. */
  readonly only: ReadonlySet<string> | undefined;
  /** Plugins that defined `only`. */
  readonly narrowedBy: readonly SchedulerPlugin[];
  /** Rejection of all nodes. */
  readonly rejection: Rejection | undefined;
  readonly scorers: readonly NodeScorer[];
  readonly #checks: readonly Check[];
  /** Version of the checked node by slot; its rejection is in `#rejections`. */
  #checked: Float64Array = new Float64Array(0);
  readonly #rejections: (Rejection | undefined)[] = [];
  /** Version of the scored node by slot; its scores are in `#scores`, one array per scorer. */
  #scored: Float64Array = new Float64Array(0);
  #scores: readonly Float64Array[];

  constructor(plugins: readonly SchedulerPlugin[], cycle: SchedulingCycle) {
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

  /** `index` is the scorer's index in `scorers`. */
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
