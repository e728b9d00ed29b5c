import { findIpAddress } from "../../../api/values/ip-address.ts";
import type { IpAddress } from "../../../api/values/ip-address.ts";

/**
 * Advertised when the machine has no address that clients in the cluster could use. The address is in a documentation block (RFC
 * 5737, RFC 3849), so no foreign machine has it.
 */
const NOWHERE: Readonly<Record<IpAddress["family"], string>> = { IPv4: "192.0.2.1", IPv6: "2001:db8::1" };

export interface Advertisement {
  /** Listen address of the server: a name, an address, or an unspecified address. */
  readonly host: string;
  /** Addresses of the machine, in its order. */
  readonly machine: readonly string[];
  /** Address family of the cluster's Services. */
  readonly family: IpAddress["family"];
}

/** Returns the address under which pods reach this server. Endpoints accept neither loopback nor link-local addresses. */
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
