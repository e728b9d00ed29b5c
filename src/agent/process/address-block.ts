/** Addresses with fixed roles in a block of pod addresses. */
import {
  cidrText,
  findCidr,
  findIpAddress,
  ipAddressText,
  networkAddress,
} from "../../api/values/ip-address.ts";

export interface BlockRoles {
  /** Address of the pods' bridge, which is their router. */
  readonly gateway: string;
  /** Address of the machine in the network of the pods. */
  readonly machine: string;
  readonly prefixLength: number;
}

/** Throws for a text that is not a block. */
export function rolesIn(block: string): BlockRoles {
  const cidr = findCidr(block);
  if (cidr === undefined) throw new Error(`expected a CIDR block, found ${block}`);
  const network = networkAddress(cidr);
  const nth = (offset: bigint) => ipAddressText({ ...network, value: network.value + offset });
  return { gateway: nth(1n), machine: nth(2n), prefixLength: cidr.prefixLength };
}

/** The block of `count` equal blocks of the range that belongs to the key, and after it all others. */
export function* blocksFrom(range: string, prefixLength: number, key: number): Generator<string> {
  const cidr = findCidr(range);
  if (cidr === undefined) throw new Error(`expected a CIDR block, found ${range}`);
  const network = networkAddress(cidr);
  const count = 2 ** (prefixLength - cidr.prefixLength);
  const size = 2n ** BigInt((network.family === "IPv4" ? 32 : 128) - prefixLength);
  for (let step = 0; step < count; step++) {
    const value = network.value + BigInt((key + step) % count) * size;
    yield cidrText({ address: { ...network, value }, prefixLength });
  }
}

export function overlaps(one: string, other: string): boolean {
  const [a, b] = [findCidr(one), findCidr(other)];
  if (a === undefined || b === undefined || a.address.family !== b.address.family) return false;
  const shorter = Math.min(a.prefixLength, b.prefixLength);
  const [first, second] = [a, b].map(
    ({ address }) => networkAddress({ address, prefixLength: shorter }).value,
  );
  return first === second;
}

export function isIpv6(address: string): boolean {
  return findIpAddress(address)?.family === "IPv6";
}
