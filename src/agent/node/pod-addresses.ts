/** Allocates the addresses of the pods on one node, one of each address block. */
import { AddressPool } from "./address-pool.ts";

export class PodAddresses {
  #pools: ReadonlyMap<string, AddressPool> = new Map();

  /** One address of each block. Undefined when a block is exhausted. */
  take(blocks: readonly string[]): readonly string[] | undefined {
    const pools = this.#poolsOf(blocks);
    const taken = pools.flatMap((pool) => pool.take() ?? []);
    if (taken.length === pools.length) return taken;
    this.free(taken);
    return undefined;
  }

  /** Marks the addresses of an existing pod as used. */
  keep(blocks: readonly string[], addresses: readonly string[]): void {
    for (const pool of this.#poolsOf(blocks)) for (const address of addresses) pool.keep(address);
  }

  free(addresses: readonly string[]): void {
    for (const pool of this.#pools.values()) for (const address of addresses) pool.free(address);
  }

  /** Keeps the pools of unchanged blocks. Blocks do not overlap, so a replaced pool can be dropped. */
  #poolsOf(blocks: readonly string[]): readonly AddressPool[] {
    if (blocks.length !== this.#pools.size || !blocks.every((block) => this.#pools.has(block)))
      this.#pools = new Map(blocks.map((block) => [block, this.#pools.get(block) ?? new AddressPool(block)]));
    return [...this.#pools.values()];
  }
}
