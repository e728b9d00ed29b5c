/**
 * Counts the pods on each node that match a selector, updated with each pod. The first request counts all pods; each change then costs one
 * comparison.
 */

import type { NodeInfo } from "./node-info.ts";
import type { PodInfo } from "./pod-info.ts";
import { SlotNumbers } from "./slot-numbers.ts";

export interface PodMatcher {
  /** Equal texts mean equal matchers. */
  readonly text: string;
  matches(pod: PodInfo): boolean;
}

/** Upper bound of cached counts. Each costs one comparison per changed pod and four bytes per node. */
const COUNTS_MAX = 512;

interface Counted {
  readonly matcher: PodMatcher;
  readonly counts: SlotNumbers;
}

export class MatchCounts {
  /** Least recently used first. */
  readonly #counted = new Map<string, Counted>();

  /** `nodes` are all nodes with their pods. */
  countsOf(matcher: PodMatcher, nodes: Iterable<NodeInfo>): SlotNumbers {
    const found = this.#counted.get(matcher.text);
    if (found !== undefined) {
      this.#counted.delete(matcher.text);
      this.#counted.set(matcher.text, found);
      return found.counts;
    }
    return this.#count(matcher, nodes);
  }

  add(pod: PodInfo, slot: number): void {
    for (const { matcher, counts } of this.#counted.values()) {
      if (matcher.matches(pod)) counts.add(slot, 1);
    }
  }

  remove(pod: PodInfo, slot: number): void {
    for (const { matcher, counts } of this.#counted.values()) {
      if (matcher.matches(pod)) counts.add(slot, -1);
    }
  }

  #count(matcher: PodMatcher, nodes: Iterable<NodeInfo>): SlotNumbers {
    const counts = new SlotNumbers();
    for (const node of nodes) {
      let count = 0;
      for (const pod of node.pods.values()) if (matcher.matches(pod)) count++;
      counts.set(node.slot, count);
    }
    this.#counted.set(matcher.text, { matcher, counts });
    if (this.#counted.size > COUNTS_MAX) {
      const [oldest] = this.#counted.keys();
      if (oldest !== undefined) this.#counted.delete(oldest);
    }
    return counts;
  }
}
