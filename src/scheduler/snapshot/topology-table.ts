/** Domains of nodes by a label: each value of the label gets a small number. */

import { ownValue } from "../../resources/rules/value-rules.ts";
import type { NodeInfo } from "./node-info.ts";
import { SlotNumbers } from "./slot-numbers.ts";

const NO_DOMAIN = -1;

export interface Topology {
  /** Domain of each node; NO_DOMAIN without the label. */
  readonly domains: SlotNumbers;
  /** Exclusive upper bound of domain numbers. A domain without nodes keeps its number. */
  readonly limit: number;
}

interface KnownTopology extends Topology {
  limit: number;
  readonly numbers: Map<string, number>;
}

/** Upper bound of topology keys; clusters use few. */
const TOPOLOGIES_MAX = 64;

export class TopologyTable {
  /** Topologies by label, least recently used first. */
  readonly #known = new Map<string, KnownTopology>();

  /** `nodes` are all nodes. */
  topologyOf(key: string, nodes: Iterable<NodeInfo>): Topology {
    const found = this.#known.get(key);
    // Numbers of vanished values accumulate; beyond this limit all are assigned anew.
    if (found !== undefined && found.limit <= 2 * this.#nodeCount + 64) {
      this.#known.delete(key);
      this.#known.set(key, found);
      return found;
    }
    return this.#make(key, nodes);
  }

  #nodeCount = 0;

  add(node: NodeInfo): void {
    this.#nodeCount++;
    this.update(node);
  }

  update(node: NodeInfo): void {
    for (const [key, topology] of this.#known) place(topology, key, node);
  }

  remove(node: NodeInfo): void {
    this.#nodeCount--;
    for (const topology of this.#known.values()) topology.domains.set(node.slot, NO_DOMAIN);
  }

  #make(key: string, nodes: Iterable<NodeInfo>): Topology {
    const topology: KnownTopology = { domains: new SlotNumbers(NO_DOMAIN), limit: 0, numbers: new Map() };
    for (const node of nodes) place(topology, key, node);
    this.#known.delete(key);
    this.#known.set(key, topology);
    if (this.#known.size > TOPOLOGIES_MAX) {
      const [oldest] = this.#known.keys();
      if (oldest !== undefined) this.#known.delete(oldest);
    }
    return topology;
  }
}

function place(topology: KnownTopology, key: string, { node, slot }: NodeInfo): void {
  const value = ownValue(node.metadata.labels, key);
  topology.domains.set(slot, value === undefined ? NO_DOMAIN : numberOf(topology, value));
}

function numberOf(topology: KnownTopology, value: string): number {
  const found = topology.numbers.get(value);
  if (found !== undefined) return found;
  const number = topology.limit++;
  topology.numbers.set(value, number);
  return number;
}
