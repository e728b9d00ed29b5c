/** One node of this process: its setup, its state, and the resources of its pods. */
import type { Node } from "../../api/generated/types/core-v1.ts";
import { AddressPool } from "./address-pool.ts";
import { AllocatedResources } from "./allocated-resources.ts";

export interface NodeSetup {
  readonly name: string;
  /** One address of each family. The first is the primary address. */
  readonly addresses: readonly string[];
  /** Block for pod addresses until the node has its own pod CIDR. */
  readonly fallbackCidr: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly capacity: Readonly<Record<string, string>>;
}

/**
 * `absent`: no Node object yet. `up`: running. `down`: simulates a machine that is off. `gone`: the Node
 * object was deleted; only a restart of the agent creates it again.
 */
export type NodeState = "absent" | "up" | "down" | "gone";

export class AgentNode {
  readonly setup: NodeSetup;
  readonly allocated = new AllocatedResources();
  state: NodeState = "absent";
  #pools: ReadonlyMap<string, AddressPool> = new Map();

  constructor(setup: NodeSetup) {
    this.setup = setup;
  }

  get name(): string {
    return this.setup.name;
  }

  /** One address from each of the node's current blocks. Undefined when a block is exhausted. */
  takeAddresses(node: Node | undefined): readonly string[] | undefined {
    const pools = this.#poolsOf(node);
    const taken = pools.flatMap((pool) => pool.take() ?? []);
    if (taken.length === pools.length) return taken;
    this.freeAddresses(taken);
    return undefined;
  }

  keepAddresses(node: Node | undefined, addresses: readonly string[]): void {
    for (const pool of this.#poolsOf(node)) for (const address of addresses) pool.keep(address);
  }

  freeAddresses(addresses: readonly string[]): void {
    for (const pool of this.#pools.values()) for (const address of addresses) pool.free(address);
  }

  /** Keeps the pools of unchanged blocks. Blocks do not overlap, so a replaced pool can be dropped. */
  #poolsOf(node: Node | undefined): readonly AddressPool[] {
    const { podCIDR = this.setup.fallbackCidr, podCIDRs = [podCIDR] } = node?.spec ?? {};
    if (podCIDRs.length !== this.#pools.size || !podCIDRs.every((block) => this.#pools.has(block)))
      this.#pools = new Map(
        podCIDRs.map((block) => [block, this.#pools.get(block) ?? new AddressPool(block)]),
      );
    return [...this.#pools.values()];
  }
}
