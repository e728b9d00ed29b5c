import { findIpAddress } from "../../../api/values/ip-address.ts";
import type { IpAddress } from "../../../api/values/ip-address.ts";

/**
 * Told to clients in the cluster when the machine has no address that others could use. From the blocks that are kept for
 * documentation (RFC 5737, RFC 3849), so it leads nowhere instead of to a stranger.
 */
const NOWHERE: Readonly<Record<IpAddress["family"], string>> = { IPv4: "192.0.2.1", IPv6: "2001:db8::1" };

export interface Advertisement {
  /** Where the server listens; a name, an address, or one of the two that mean everywhere. */
  readonly host: string;
  /** The addresses of the machine, in its order. */
  readonly machine: readonly string[];
  /** Of the cluster's Services. */
  readonly family: IpAddress["family"];
}

/** The address under which pods reach this server. Endpoints hold neither loopback nor link-local addresses. */
export function advertisedAddress({ host, machine, family }: Advertisement): string {
  const isUsable = (text: string): boolean => {
    const address = findIpAddress(text);
    return address?.family === family && isReachable(address);
  };
  return [host, ...machine].find(isUsable) ?? NOWHERE[family];
}

function isReachable({ family, value }: IpAddress): boolean {
  if (family === "IPv4") {
    const isLoopback = value >> 24n === 127n;
    const isLinkLocal = value >> 16n === 0xa9fen;
    return value !== 0n && !isLoopback && !isLinkLocal && value >> 28n !== 0xen;
  }
  const isLinkLocal = value >> 118n === 0x3fan;
  return value > 1n && !isLinkLocal && value >> 120n !== 0xffn;
}
