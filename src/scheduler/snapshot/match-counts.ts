/**
 * Counts the pods on each node that match a selector, updated with each pod. Pods that no selector can tell apart, such
 * as those of a Deployment, are matched once together: a new count costs their groups, not all pods.
 */

import type { PodIdentity } from "./affinity-term.ts";
import { SlotNumbers } from "./slot-numbers.ts";

/** All that a matcher knows of a pod. */
export interface MatchedPod extends PodIdentity {
  readonly isTerminating: boolean;
}

export interface PodMatcher {
  /** Equal texts mean equal matchers. */
  readonly text: string;
  matches(pod: MatchedPod): boolean;
}

/** Upper bound of cached counts. Each costs four bytes per node. */
const COUNTS_MAX = 512;

/** Placed pods of one namespace with equal labels, terminating or not. */
interface PodGroup {
  readonly member: MatchedPod;
  /** Number of these pods by slot; never 0. */
  readonly slots: Map<number, number>;
  /** Counts that include these pods. */
  readonly counts: Set<SlotNumbers>;
}

interface Counted {
  readonly matcher: PodMatcher;
  readonly counts: SlotNumbers;
}

export class MatchCounts {
  /** By text. Least recently used first. */
  readonly #counted = new Map<string, Counted>();
  readonly #groups = new Map<string, PodGroup>();

  countsOf(matcher: PodMatcher): SlotNumbers {
    const found = this.#counted.get(matcher.text);
    if (found === undefined) return this.#count(matcher);
    this.#counted.delete(matcher.text);
    this.#counted.set(matcher.text, found);
    return found.counts;
  }

  add(pod: MatchedPod, slot: number): void {
    const text = groupText(pod);
    const group = this.#groups.get(text) ?? this.#newGroup(pod);
    this.#groups.set(text, group);
    group.slots.set(slot, (group.slots.get(slot) ?? 0) + 1);
    for (const counts of group.counts) counts.add(slot, 1);
  }

  remove(pod: MatchedPod, slot: number): void {
    const text = groupText(pod);
    const group = this.#groups.get(text);
    const count = group?.slots.get(slot);
    if (group === undefined || count === undefined) return;
    for (const counts of group.counts) counts.add(slot, -1);
    if (count > 1) group.slots.set(slot, count - 1);
    else group.slots.delete(slot);
    if (group.slots.size === 0) this.#groups.delete(text);
  }

  #newGroup({ namespace, labels, isTerminating }: MatchedPod): PodGroup {
    const group: PodGroup = {
      member: { namespace, labels, isTerminating },
      slots: new Map(),
      counts: new Set(),
    };
    for (const { matcher, counts } of this.#counted.values())
      if (matcher.matches(group.member)) group.counts.add(counts);
    return group;
  }

  #count(matcher: PodMatcher): SlotNumbers {
    const counts = new SlotNumbers();
    for (const group of this.#groups.values()) {
      if (!matcher.matches(group.member)) continue;
      group.counts.add(counts);
      for (const [slot, count] of group.slots) counts.add(slot, count);
    }
    this.#counted.set(matcher.text, { matcher, counts });
    if (this.#counted.size > COUNTS_MAX) this.#forgetOldest();
    return counts;
  }

  #forgetOldest(): void {
    for (const [text, { counts }] of this.#counted) {
      this.#counted.delete(text);
      for (const group of this.#groups.values()) group.counts.delete(counts);
      return;
    }
  }
}

/** Equal for pods that no matcher can tell apart. No name, key or value of a label contains the separators. */
function groupText({ namespace, labels, isTerminating }: MatchedPod): string {
  let text = isTerminating ? `${namespace}\nterminating` : namespace;
  for (const key in labels) text += `\n${key}=${labels[key]}`;
  return text;
}
