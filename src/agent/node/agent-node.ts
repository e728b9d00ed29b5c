/** One node of this process: what it is told to be, and what its pods take of it. */
import type { Node } from "../../api/generated/types/core-v1.ts";
import { AddressPool } from "./address-pool.ts";
import { Allotment } from "./allotment.ts";

export interface NodeSetup {
  readonly name: string;
  /** One of each family; the first is the one that counts where there is room for one. */
  readonly addresses: readonly string[];
  /** Where pods get addresses from until the node is given a block of its own. */
  readonly fallbackCidr: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly capacity: Readonly<Record<string, string>>;
}

/**
 * `absent`: no Node object yet. `up`: it works. `down`: it is as if the machine were off. `gone`: its object was deleted; an agent makes it anew
 * only when it starts.
 */
export type NodeState = "absent" | "up" | "down" | "gone";

export class AgentNode {
  readonly setup: NodeSetup;
  readonly allotment = new Allotment();
  state: NodeState = "absent";
  #pools: ReadonlyMap<string, AddressPool> = new Map();

  constructor(setup: NodeSetup) {
    this.setup = setup;
  }

  get name(): string {
    return this.setup.name;
  }

  /** One of each block that the node has now. Undefined when all addresses of one are taken. */
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

  /** Blocks do not overlap, so that nothing is lost when one takes the place of another. */
  #poolsOf(node: Node | undefined): readonly AddressPool[] {
    const { podCIDR = this.setup.fallbackCidr, podCIDRs = [podCIDR] } = node?.spec ?? {};
    if (podCIDRs.length !== this.#pools.size || !podCIDRs.every((block) => this.#pools.has(block)))
      this.#pools = new Map(
        podCIDRs.map((block) => [block, this.#pools.get(block) ?? new AddressPool(block)]),
      );
    return [...this.#pools.values()];
  }
}
