/** CEL library of IP addresses and CIDR blocks. */
import {
  type Cidr,
  cidrContains,
  findCidr,
  findIpAddress,
  type IpAddress,
  ipAddressText,
  networkAddress,
} from "../../values/ip-address.ts";
import { quoted } from "../../values/message-text.ts";
import { CelEvaluationError } from "../cel-error.ts";
import type { Library } from "../overload.ts";
import { type CelValue, Opaque } from "../value.ts";

const MAPPED = 0xffffn;
/** Longest text of an address with a prefix length. */
const TEXT_MAX = 64;

function findIp(text: string): IpAddress | undefined {
  const address = text.length > TEXT_MAX ? undefined : findIpAddress(text);
  const isMapped = address?.family === "IPv6" && address.value >> 32n === MAPPED;
  return isMapped ? undefined : address;
}

function findBlock(text: string): Cidr | undefined {
  const cidr = text.length > TEXT_MAX ? undefined : findCidr(text);
  const isMapped = cidr?.address.family === "IPv6" && cidr.address.value >> 32n === MAPPED;
  return isMapped ? undefined : cidr;
}

function ipValue(address: IpAddress): CelValue {
  return new Opaque("net.IP", address, ipAddressText(address));
}

function cidrValue(cidr: Cidr): CelValue {
  return new Opaque("net.CIDR", cidr, blockText(cidr));
}

function shownPart(text: string): string {
  return quoted(text.slice(0, 100));
}

function parseIp(text: string): IpAddress {
  const address = findIp(text);
  if (address !== undefined) return address;
  const shown = shownPart(text);
  if (isRead(text, findIpAddress))
    throw new CelEvaluationError(`IPv4-mapped IPv6 address ${shown} is not allowed`);
  if (isRead(text, (zoned) => findIpAddress(zoned.replace(/%.+$/, ""))))
    throw new CelEvaluationError(`IP address ${shown} with zone value is not allowed`);
  throw new CelEvaluationError(
    `IP Address ${shown} parse error during conversion from string: ParseAddr(${shown}): unable to parse IP`,
  );
}

function isRead(text: string, find: (text: string) => unknown): boolean {
  return text.length <= TEXT_MAX && find(text) !== undefined;
}

function parseBlock(text: string): Cidr {
  const cidr = findBlock(text);
  if (cidr !== undefined) return cidr;
  const shown = shownPart(text);
  const failure = "network address parse error during conversion from string";
  if (isRead(text, findCidr))
    throw new CelEvaluationError(`${failure}: IPv4-mapped IPv6 address ${shown} is not allowed`);
  throw new CelEvaluationError(`${failure}: ${failure}: netip.ParsePrefix(${shown}): no '/'`);
}

/** Text of a block. It keeps the host bits of the address, unlike the text of a network. */
function blockText({ address, prefixLength }: Cidr): string {
  return `${ipAddressText(address)}/${prefixLength}`;
}

function ipOf(value: CelValue): IpAddress {
  return (value as Opaque<IpAddress>).content;
}

function blockOf(value: CelValue): Cidr {
  return (value as Opaque<Cidr>).content;
}

interface Blocks {
  readonly v4: Cidr | undefined;
  readonly v6: Cidr | undefined;
}

const BROADCAST = blocks("255.255.255.255/32", "::/128");
const MULTICAST = blocks("224.0.0.0/4", "ff00::/8");
const LINK_LOCAL_MULTICAST = blocks("224.0.0.0/24", "ff02::/16");
const LINK_LOCAL_UNICAST = blocks("169.254.0.0/16", "fe80::/10");
const LOOPBACK = blocks("127.0.0.0/8", "::1/128");

function blocks(v4: string, v6: string): Blocks {
  return { v4: findCidr(v4), v6: findCidr(v6) };
}

function isWithin(value: CelValue, { v4, v6 }: Blocks): boolean {
  const address = ipOf(value);
  const block = address.family === "IPv4" ? v4 : v6;
  return block !== undefined && cidrContains(block, address);
}

function isUnspecified(value: CelValue): boolean {
  return ipOf(value).value === 0n;
}

function isLoopback(value: CelValue): boolean {
  return isWithin(value, LOOPBACK);
}

function isLinkLocalUnicast(value: CelValue): boolean {
  return isWithin(value, LINK_LOCAL_UNICAST);
}

/** True for an address without a special purpose. As in Go, private addresses are global unicast. */
function isGlobalUnicast(value: CelValue): boolean {
  const isBroadcast = isWithin(value, BROADCAST);
  const isMulticast = isWithin(value, MULTICAST);
  return (
    !isUnspecified(value) && !isBroadcast && !isMulticast && !isLoopback(value) && !isLinkLocalUnicast(value)
  );
}

function containsBlock(outer: Cidr, inner: Cidr): boolean {
  return inner.prefixLength >= outer.prefixLength && cidrContains(outer, networkAddress(inner));
}

export const ADDRESSES: Library = [
  ["ip(string): net.IP", ([text]) => ipValue(parseIp(text as string))],
  ["isIP(string): bool", ([text]) => findIp(text as string) !== undefined],
  ["ip.isCanonical(string): bool", ([text]) => ipAddressText(parseIp(text as string)) === text],
  ["string(net.IP): string", ([ip]) => ipAddressText(ipOf(ip))],
  ["net.IP -> family(): int", ([ip]) => (ipOf(ip).family === "IPv4" ? 4n : 6n)],
  ["net.IP -> isUnspecified(): bool", ([ip]) => isUnspecified(ip)],
  ["net.IP -> isLoopback(): bool", ([ip]) => isLoopback(ip)],
  ["net.IP -> isLinkLocalMulticast(): bool", ([ip]) => isWithin(ip, LINK_LOCAL_MULTICAST)],
  ["net.IP -> isLinkLocalUnicast(): bool", ([ip]) => isLinkLocalUnicast(ip)],
  ["net.IP -> isGlobalUnicast(): bool", ([ip]) => isGlobalUnicast(ip)],
  ["cidr(string): net.CIDR", ([text]) => cidrValue(parseBlock(text as string))],
  ["isCIDR(string): bool", ([text]) => findBlock(text as string) !== undefined],
  ["string(net.CIDR): string", ([cidr]) => blockText(blockOf(cidr))],
  [
    "net.CIDR -> containsIP(string): bool",
    ([cidr, text]) => cidrContains(blockOf(cidr), parseIp(text as string)),
  ],
  ["net.CIDR -> containsIP(net.IP): bool", ([cidr, ip]) => cidrContains(blockOf(cidr), ipOf(ip))],
  [
    "net.CIDR -> containsCIDR(string): bool",
    ([cidr, text]) => containsBlock(blockOf(cidr), parseBlock(text as string)),
  ],
  [
    "net.CIDR -> containsCIDR(net.CIDR): bool",
    ([cidr, other]) => containsBlock(blockOf(cidr), blockOf(other)),
  ],
  ["net.CIDR -> ip(): net.IP", ([cidr]) => ipValue(blockOf(cidr).address)],
  [
    "net.CIDR -> masked(): net.CIDR",
    ([cidr]) => {
      const block = blockOf(cidr);
      return cidrValue({ ...block, address: networkAddress(block) });
    },
  ],
  ["net.CIDR -> prefixLength(): int", ([cidr]) => BigInt(blockOf(cidr).prefixLength)],
];
