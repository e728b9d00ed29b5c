/** Validates addresses of Services and endpoints, and warns about ambiguous spellings. */

import type { FieldErrors, FieldPath } from "../../api/errors/field-error.ts";
import {
  type Cidr,
  cidrContains,
  cidrText,
  findCidr,
  findIpAddress,
  ipAddressText,
} from "../../api/values/ip-address.ts";
import { quoted } from "../../api/values/message-text.ts";

export const PROTOCOLS = ["SCTP", "TCP", "UDP"];

/** Address ranges that have another meaning on each machine, so that traffic to them cannot be routed. */
const SPECIAL: readonly (readonly [ranges: readonly string[], text: (ip: string) => string])[] = [
  [["0.0.0.0/32", "::/128"], (ip) => `may not be unspecified (${ip})`],
  [["127.0.0.0/8", "::1/128"], () => "may not be in the loopback range (127.0.0.0/8, ::1/128)"],
  [["169.254.0.0/16", "fe80::/10"], () => "may not be in the link-local range (169.254.0.0/16, fe80::/10)"],
  [
    ["224.0.0.0/24", "ff02::/16"],
    () => "may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)",
  ],
];

const SPECIAL_BLOCKS = SPECIAL.map(([ranges, text]) => ({
  blocks: ranges.map(findCidr).filter((block): block is Cidr => block !== undefined),
  text,
}));

export function checkNonSpecialIp(ip: string, path: FieldPath, errors: FieldErrors): void {
  const address = findIpAddress(ip);
  if (address === undefined) {
    errors.invalid(path, ip, "must be a valid IP address");
    return;
  }
  for (const { blocks, text } of SPECIAL_BLOCKS) {
    if (blocks.some((block) => cidrContains(block, address))) errors.invalid(path, ip, text(ip));
  }
}

/** True for one address of each family. */
export function isDualStack(families: readonly (string | undefined)[]): boolean {
  return families.length === 2 && families.includes("IPv4") && families.includes("IPv6");
}

export function ipWarnings(ip: string, path: FieldPath): readonly string[] {
  const address = findIpAddress(ip);
  if (address?.family !== "IPv6") return [];
  const canonical = ipAddressText(address);
  if (canonical === ip) return [];
  return [
    `${path.toString()}: IPv6 address ${quoted(ip)} should be in RFC 5952 canonical format (${quoted(canonical)})`,
  ];
}

export function cidrWarnings(block: string, path: FieldPath): readonly string[] {
  const cidr = findCidr(block);
  if (cidr?.address.family !== "IPv6") return [];
  const canonical = cidrText(cidr);
  if (canonical === block) return [];
  return [
    `${path.toString()}: IPv6 CIDR value ${quoted(block)} should be in RFC 5952 canonical format (${quoted(canonical)})`,
  ];
}
