/** Allocates blocks of equal size from one address range. */
import { cidrText, findCidr, networkAddress, type Cidr } from "../../api/values/ip-address.ts";

export class CidrBlocks {
  readonly #first: bigint;
  readonly #family: Cidr["address"]["family"];
  readonly #prefixLength: number;
  readonly #blockBits: bigint;
  readonly #count: number;
  readonly #used = new Set<number>();
  #next = 0;

  /** Throws if the range is invalid or smaller than a block. */
  constructor(range: string, prefixLength: number) {
    const cidr = findCidr(range);
    const bits = cidr?.address.family === "IPv6" ? 128 : 32;
    if (cidr === undefined || prefixLength < cidr.prefixLength || prefixLength > bits) {
      throw new Error(`expected a range of addresses that holds blocks of /${prefixLength}, found ${range}`);
    }
    this.#first = networkAddress(cidr).value;
    this.#family = cidr.address.family;
    this.#prefixLength = prefixLength;
    this.#blockBits = BigInt(bits - prefixLength);
    // Upper bound of blocks: more than any cluster has nodes.
    this.#count = 2 ** Math.min(prefixLength - cidr.prefixLength, 20);
  }

  /** Undefined if all blocks are in use. */
  take(): string | undefined {
    for (let tries = 0; tries < this.#count; tries++) {
      const index = this.#next;
      this.#next = (this.#next + 1) % this.#count;
      if (this.#used.has(index)) continue;
      this.#used.add(index);
      const value = this.#first + (BigInt(index) << this.#blockBits);
      return cidrText({ address: { family: this.#family, value }, prefixLength: this.#prefixLength });
    }
    return undefined;
  }

  /** Marks a block as in use. No-op for a block of another range. */
  keep(block: string): void {
    const index = this.#indexOf(block);
    if (index !== undefined) this.#used.add(index);
  }

  free(block: string): void {
    const index = this.#indexOf(block);
    if (index !== undefined) this.#used.delete(index);
  }

  #indexOf(block: string): number | undefined {
    const cidr = findCidr(block);
    if (cidr?.address.family !== this.#family) return undefined;
    const index = (cidr.address.value - this.#first) >> this.#blockBits;
    return index >= 0n && index < BigInt(this.#count) ? Number(index) : undefined;
  }
}
