/**
 * Validates and parses IP addresses and CIDR blocks as Kubernetes 1.36 does. Legacy fields accept any unambiguous
 * spelling; newer fields accept only the canonical one (RFC 5952). Checks return the problems in upstream's words.
 */

import { quoted } from "./message-text.ts";

export interface IpAddress {
  readonly family: "IPv4" | "IPv6";
  /** The address as an integer of 32 or 128 bits. */
  readonly value: bigint;
}

export interface Cidr {
  readonly address: IpAddress;
  readonly prefixLength: number;
}

const IP_WRONG = "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)";
const CIDR_WRONG = "must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)";

/** The upper 96 bits of `::ffff:0:0/96`. */
const MAPPED_PREFIX = 0xffffn;

/** The longest spelling: six groups of four digits and an IPv4 tail. */
const TEXT_MAX = 45;

/** Undefined if the text is not an address. Zones and leading zeros in IPv4 are invalid. */
export function findIpAddress(text: string): IpAddress | undefined {
  const read = readAddress(text);
  return read === undefined || read.hasLeadingZeros ? undefined : read.address;
}

/** Undefined if the text is not a CIDR block. Bits beyond the prefix are kept. */
export function findCidr(text: string): Cidr | undefined {
  const read = readCidr(text);
  return read === undefined || read.hasLeadingZeros ? undefined : read.cidr;
}

const IPV4_BYTES = 4;
const IPV6_BYTES = 16;

/** The address in 4 or 16 bytes in network order. Undefined for any other length. */
export function addressOfBytes(bytes: Buffer): IpAddress | undefined {
  if (bytes.length !== IPV4_BYTES && bytes.length !== IPV6_BYTES) return undefined;
  const value = BigInt(`0x${bytes.toString("hex")}`);
  if (bytes.length === IPV4_BYTES) return { family: "IPv4", value };
  return unmapped({ family: "IPv6", value });
}

/** Accepts leading zeros, as Kubernetes once did everywhere. */
export function isLooseIpAddress(text: string): boolean {
  return readAddress(text) !== undefined;
}

/** Accepts leading zeros, like `isLooseIpAddress`. */
export function isLooseCidr(text: string): boolean {
  return readCidr(text) !== undefined;
}

/** The canonical spelling. */
export function ipAddressText({ family, value }: IpAddress): string {
  return family === "IPv4" ? ipv4Text(value) : ipv6Text(value);
}

/** The canonical spelling of the block, without the bits beyond its prefix. */
export function cidrText(cidr: Cidr): string {
  return `${ipAddressText(networkAddress(cidr))}/${cidr.prefixLength}`;
}

export function networkAddress({ address, prefixLength }: Cidr): IpAddress {
  const hostBits = BigInt(bitsOf(address.family) - prefixLength);
  return { family: address.family, value: (address.value >> hostBits) << hostBits };
}

export function cidrContains(cidr: Cidr, address: IpAddress): boolean {
  if (cidr.address.family !== address.family) return false;
  const hostBits = BigInt(bitsOf(address.family) - cidr.prefixLength);
  return cidr.address.value >> hostBits === address.value >> hostBits;
}

/** For legacy fields: any spelling that all programs parse to the same address. */
export function legacyIpAddress(text: string): readonly string[] {
  const read = readAddress(text);
  if (read === undefined) return [IP_WRONG];
  if (read.hasLeadingZeros) return ["must not have leading 0s"];
  return isMapped(read.address) ? ["must not be an IPv4-mapped IPv6 address"] : [];
}

/** For newer fields: the canonical spelling only. */
export function ipAddress(text: string): readonly string[] {
  const problems = legacyIpAddress(text);
  const address = findIpAddress(text);
  if (problems.length > 0 || address === undefined) return problems;
  const canonical = ipAddressText(address);
  return canonical === text ? [] : [`must be in canonical form (${quoted(canonical)})`];
}

export function legacyCidr(text: string): readonly string[] {
  const read = readCidr(text);
  if (read === undefined) return [CIDR_WRONG];
  if (read.hasLeadingZeros) return ["must not have leading 0s in IP or prefix length"];
  if (isMapped(read.cidr.address)) return ["must not have an IPv4-mapped IPv6 address"];
  if (networkAddress(read.cidr).value === read.cidr.address.value) return [];
  return ["must not have bits set beyond the prefix length"];
}

export function cidr(text: string): readonly string[] {
  const problems = legacyCidr(text);
  const block = findCidr(text);
  if (problems.length > 0 || block === undefined) return problems;
  const canonical = cidrText(block);
  return canonical === text ? [] : [`must be in canonical form (${quoted(canonical)})`];
}

/** An address with the prefix length of its network: `192.168.1.5/24`. */
export function interfaceAddress(text: string): readonly string[] {
  const read = readCidr(text);
  if (read === undefined) {
    return ["must be a valid address in CIDR form, (e.g. 10.9.8.7/24 or 2001:db8::1/64)"];
  }
  const canonical = `${ipAddressText(read.cidr.address)}/${read.cidr.prefixLength}`;
  return canonical === text ? [] : [`must be in canonical form (${quoted(canonical)})`];
}

interface ReadAddress {
  readonly address: IpAddress;
  readonly hasLeadingZeros: boolean;
}

function readAddress(text: string): ReadAddress | undefined {
  if (text.length > TEXT_MAX) return undefined;
  return text.includes(":") ? readIpv6(text) : readIpv4(text);
}

function readIpv4(text: string): ReadAddress | undefined {
  const parts = text.split(".");
  if (parts.length !== 4 || !parts.every((part) => /^[0-9]+$/.test(part) && Number(part) <= 255)) {
    return undefined;
  }
  let value = 0n;
  for (const part of parts) value = (value << 8n) | BigInt(part);
  return {
    address: { family: "IPv4", value },
    hasLeadingZeros: parts.some((part) => part.length > 1 && part.startsWith("0")),
  };
}

function readIpv6(text: string): ReadAddress | undefined {
  const lastColon = text.lastIndexOf(":");
  const tail = text.slice(lastColon + 1);
  const ipv4 = tail.includes(".") ? readIpv4(tail) : undefined;
  if (tail.includes(".") && ipv4 === undefined) return undefined;
  // An IPv4 tail is replaced by the two equivalent groups.
  const low = ipv4?.address.value ?? 0n;
  const whole =
    ipv4 === undefined
      ? text
      : `${text.slice(0, lastColon + 1)}${(low >> 16n).toString(16)}:${(low & 0xffffn).toString(16)}`;
  const groups = ipv6Groups(whole);
  if (groups === undefined) return undefined;
  let value = 0n;
  for (const group of groups) value = (value << 16n) | BigInt(`0x${group}`);
  return { address: { family: "IPv6", value }, hasLeadingZeros: ipv4?.hasLeadingZeros ?? false };
}

/** Eight groups of hexadecimal digits, with `::` expanded. */
function ipv6Groups(text: string): readonly string[] | undefined {
  const halves = text.split("::");
  const [head = [], rest] = halves.map((half) => (half === "" ? [] : half.split(":")));
  if (halves.length > 2 || ![...head, ...(rest ?? [])].every((group) => /^[0-9a-fA-F]{1,4}$/.test(group))) {
    return undefined;
  }
  if (rest === undefined) return head.length === 8 ? head : undefined;
  const missing = 8 - head.length - rest.length;
  // The double colon replaces at least one group.
  return missing < 1 ? undefined : [...head, ...Array<string>(missing).fill("0"), ...rest];
}

interface ReadCidr {
  readonly cidr: Cidr;
  readonly hasLeadingZeros: boolean;
}

function readCidr(text: string): ReadCidr | undefined {
  const slash = text.indexOf("/");
  const read = slash < 0 ? undefined : readAddress(text.slice(0, slash));
  const length = text.slice(slash + 1);
  if (read === undefined || !/^[0-9]{1,9}$/.test(length)) return undefined;
  const prefixLength = Number(length);
  if (prefixLength > bitsOf(read.address.family)) return undefined;
  const hasLeadingZeros = read.hasLeadingZeros || String(prefixLength) !== length;
  return { cidr: { address: read.address, prefixLength }, hasLeadingZeros };
}

function bitsOf(family: IpAddress["family"]): number {
  return family === "IPv4" ? 32 : 128;
}

function isMapped({ family, value }: IpAddress): boolean {
  return family === "IPv6" && value >> 32n === MAPPED_PREFIX;
}

/** Converts an IPv4-mapped IPv6 address to IPv4; returns other addresses unchanged. */
function unmapped(address: IpAddress): IpAddress {
  return isMapped(address) ? { family: "IPv4", value: address.value & 0xffffffffn } : address;
}

function ipv4Text(value: bigint): string {
  return [24n, 16n, 8n, 0n].map((shift) => (value >> shift) & 0xffn).join(".");
}

/** Lower case, no leading zeros. `::` replaces the first longest run of at least two zero groups. */
function ipv6Text(value: bigint): string {
  const groups = Array.from({ length: 8 }, (_, i) =>
    ((value >> BigInt(112 - 16 * i)) & 0xffffn).toString(16),
  );
  const run = longestZeroRun(groups);
  if (run.length < 2) return groups.join(":");
  return `${groups.slice(0, run.start).join(":")}::${groups.slice(run.start + run.length).join(":")}`;
}

function longestZeroRun(groups: readonly string[]): { readonly start: number; readonly length: number } {
  let best = { start: 0, length: 0 };
  let start = 0;
  for (const [i, group] of groups.entries()) {
    if (group !== "0") start = i + 1;
    else if (i + 1 - start > best.length) best = { start, length: i + 1 - start };
  }
  return best;
}
