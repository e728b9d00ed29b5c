/** The addresses of a block that can be given out, and in which order. */
import { cidrContains, networkAddress } from "../../../api/values/ip-address.ts";
import type { Cidr, IpAddress } from "../../../api/values/ip-address.ts";
import type { Random } from "../../../base/loop/loop.ts";

/** More of a huge block is never looked at: so many are never taken. */
const SPAN_MAX = 1n << 32n;
/** After so many taken addresses in a row the block counts as full. */
const TRIES_MAX = 1 << 16;

/** The lowest part of a block is left to those who ask for an address by name, as upstream does: a sixteenth, within bounds. */
const RESERVED_MIN = 16n;
const RESERVED_MAX = 256n;
const RESERVED_SHARE = 16n;

export class AddressRange {
  readonly #block: Cidr;
  readonly #first: bigint;
  readonly #size: bigint;

  constructor(block: Cidr) {
    this.#block = block;
    const network = networkAddress(block).value;
    const hostBits = (block.address.family === "IPv4" ? 32n : 128n) - BigInt(block.prefixLength);
    const all = 1n << hostBits;
    // The first is the network itself; in IPv4 the last reaches everybody in it.
    const unusable = block.address.family === "IPv4" ? 2n : 1n;
    this.#first = network + 1n;
    this.#size = all > unusable ? all - unusable : 0n;
  }

  get family(): IpAddress["family"] {
    return this.#block.address.family;
  }

  /** The address that the API server's own Service gets. */
  get first(): IpAddress {
    return this.#address(0n);
  }

  contains(address: IpAddress): boolean {
    if (!cidrContains(this.#block, address)) return false;
    return address.value >= this.#first && address.value < this.#first + this.#size;
  }

  /** A free address, from a random place on, the reserved part last; undefined when there is none. */
  findFree(isFree: (address: IpAddress) => boolean, random: Random): IpAddress | undefined {
    const span = this.#size < SPAN_MAX ? this.#size : SPAN_MAX;
    const reserved = reservedOf(span);
    return (
      this.#findFrom({ from: reserved, count: span - reserved }, isFree, random) ??
      this.#findFrom({ from: 0n, count: reserved }, isFree, random)
    );
  }

  #findFrom(
    { from, count }: { readonly from: bigint; readonly count: bigint },
    isFree: (address: IpAddress) => boolean,
    random: Random,
  ): IpAddress | undefined {
    if (count <= 0n) return undefined;
    const start = BigInt(random.below(Number(count)));
    const tries = count < BigInt(TRIES_MAX) ? Number(count) : TRIES_MAX;
    for (let i = 0n; i < BigInt(tries); i++) {
      const address = this.#address(from + ((start + i) % count));
      if (isFree(address)) return address;
    }
    return undefined;
  }

  #address(offset: bigint): IpAddress {
    return { family: this.family, value: this.#first + offset };
  }
}

function reservedOf(size: bigint): bigint {
  if (size < RESERVED_MIN) return 0n;
  const share = size / RESERVED_SHARE;
  if (share < RESERVED_MIN) return RESERVED_MIN;
  return share > RESERVED_MAX ? RESERVED_MAX : share;
}
