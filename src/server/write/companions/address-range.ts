/** Picks free addresses of a CIDR block and defines the order in which they are tried. */
import { cidrContains, networkAddress } from "../../../api/values/ip-address.ts";
import type { Cidr, IpAddress } from "../../../api/values/ip-address.ts";
import type { Random } from "../../../base/loop/loop.ts";

/** Number of addresses of a huge block that are ever used. A cluster never needs more. */
const SPAN_MAX = 1n << 32n;
/** After this many allocated addresses in a row the block counts as full. */
const TRIES_MAX = 1 << 16;

/** The lowest sixteenth (within bounds) is reserved for Services that ask for a fixed address, as upstream does. */
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
    // The first address is the network itself; the last address of an IPv4 block is the broadcast address.
    const unusable = block.address.family === "IPv4" ? 2n : 1n;
    this.#first = network + 1n;
    this.#size = all > unusable ? all - unusable : 0n;
  }

  get family(): IpAddress["family"] {
    return this.#block.address.family;
  }

  /** The address of the API server's own Service. */
  get first(): IpAddress {
    return this.#address(0n);
  }

  contains(address: IpAddress): boolean {
    if (!cidrContains(this.#block, address)) return false;
    return address.value >= this.#first && address.value < this.#first + this.#size;
  }

  /**
   * A free address; undefined if there is none. The search starts at a random offset and tries the reserved part
   * last.
   */
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
