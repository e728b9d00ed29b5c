/** Addresses of pods on one node: each is given to one pod at a time, and to nobody else as long as others are free. */
import {
  findCidr,
  findIpAddress,
  ipAddressText,
  networkAddress,
  type IpAddress,
} from "../../api/values/ip-address.ts";

/** The network itself and the node's own end of it. */
const RESERVED = 2;

export class AddressPool {
  readonly #first: IpAddress;
  readonly #size: number;
  readonly #used = new Set<number>();
  #next = 0;

  /** The text must be a block of addresses. */
  constructor(cidr: string) {
    const block = findCidr(cidr);
    if (block === undefined) throw new Error(`expected a block of addresses, found ${cidr}`);
    const bits = (block.address.family === "IPv4" ? 32 : 128) - block.prefixLength;
    const network = networkAddress(block);
    this.#first = { ...network, value: network.value + BigInt(RESERVED) };
    // The last address of an IPv4 block is for broadcasts. No node has more pods than this.
    this.#size = Math.max(1, 2 ** Math.min(bits, 16) - RESERVED - 1);
  }

  /** Undefined when all are taken. */
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

  /** A pod has this address already. Harmless for one of another block. */
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
