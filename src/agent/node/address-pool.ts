/** Allocates addresses to the pods of one node. A freed address is reused last. */
import {
  findCidr,
  findIpAddress,
  ipAddressText,
  networkAddress,
  type IpAddress,
} from "../../api/values/ip-address.ts";

/** The network address and the node's own address. */
const RESERVED = 2;

export class AddressPool {
  readonly #first: IpAddress;
  readonly #size: number;
  readonly #used = new Set<number>();
  #next = 0;

  /** Throws for a text that is not a CIDR block. */
  constructor(cidr: string) {
    const block = findCidr(cidr);
    if (block === undefined) throw new Error(`expected a CIDR block, found ${cidr}`);
    const bits = (block.address.family === "IPv4" ? 32 : 128) - block.prefixLength;
    const network = networkAddress(block);
    this.#first = { ...network, value: network.value + BigInt(RESERVED) };
    // Excludes the broadcast address of an IPv4 block. 2^16 exceeds the pods of any node.
    this.#size = Math.max(1, 2 ** Math.min(bits, 16) - RESERVED - 1);
  }

  /** Undefined when all addresses are in use. */
  take(): string | undefined {
    for (let tries = 0; tries < this.#size; tries++) {
      const offset = this.#next;
      this.#next = (this.#next + 1) % this.#size;
      if (this.#used.has(offset)) continue;
      this.#used.add(offset);
      return ipAddressText({ ...this.#first, value: this.#first.value + BigInt(offset) });
    }
    return undefined;
  }

  /** Marks the address of an existing pod as used. No-op for an address of another block. */
  keep(address: string): void {
    const offset = this.#offsetOf(address);
    if (offset !== undefined) this.#used.add(offset);
  }

  free(address: string): void {
    const offset = this.#offsetOf(address);
    if (offset !== undefined) this.#used.delete(offset);
  }

  #offsetOf(text: string): number | undefined {
    const address = findIpAddress(text);
    if (address?.family !== this.#first.family) return undefined;
    const offset = Number(address.value - this.#first.value);
    return offset >= 0 && offset < this.#size ? offset : undefined;
  }
}
