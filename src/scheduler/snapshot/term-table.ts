/** Affinity terms of the pods on each node. Equal terms share a group, so there are about as many groups as workloads. */

import type { AffinityTerm, AffinityTerms } from "./affinity-term.ts";
import type { PodInfo } from "./pod-info.ts";
import { SlotNumbers } from "./slot-numbers.ts";

export type TermRole = keyof AffinityTerms;

export interface TermGroup {
  readonly term: AffinityTerm;
  /** Number of pods with this term, by node. */
  readonly counts: SlotNumbers;
  total: number;
}

const ROLES: readonly TermRole[] = [
  "requiredAffinity",
  "requiredAntiAffinity",
  "preferredAffinity",
  "preferredAntiAffinity",
];

export class TermTable {
  readonly #groups: Readonly<Record<TermRole, Map<string, TermGroup>>> = {
    requiredAffinity: new Map(),
    requiredAntiAffinity: new Map(),
    preferredAffinity: new Map(),
    preferredAntiAffinity: new Map(),
  };

  groups(role: TermRole): Iterable<TermGroup> {
    return this.#groups[role].values();
  }

  has(role: TermRole): boolean {
    return this.#groups[role].size > 0;
  }

  add(pod: PodInfo, slot: number): void {
    this.#change(pod, slot, 1);
  }

  remove(pod: PodInfo, slot: number): void {
    this.#change(pod, slot, -1);
  }

  #change({ affinity }: PodInfo, slot: number, difference: 1 | -1): void {
    for (const role of ROLES) {
      for (const term of affinity[role]) {
        const group = this.#group(role, term);
        group.counts.add(slot, difference);
        group.total += difference;
        if (group.total === 0) this.#groups[role].delete(term.text);
      }
    }
  }

  #group(role: TermRole, term: AffinityTerm): TermGroup {
    const groups = this.#groups[role];
    let group = groups.get(term.text);
    if (group === undefined) {
      group = { term, counts: new SlotNumbers(), total: 0 };
      groups.set(term.text, group);
    }
    return group;
  }
}
