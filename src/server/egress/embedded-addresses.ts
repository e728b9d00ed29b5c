/**
 * Finds the IPv4 addresses that an IPv6 address leads to: through the operating system, a translator (NAT64) or a
 * tunnel.
 */
import { cidrContains, findCidr } from "../../api/values/ip-address.ts";
import type { Cidr, IpAddress } from "../../api/values/ip-address.ts";

export interface EmbeddedAddress {
  readonly address: IpAddress;
  /** True where only public addresses are valid (RFC 3056, 4380, 6052): any other is an attack or a mistake. */
  readonly mustBePublic: boolean;
}

interface Form {
  readonly block: Cidr;
  readonly mustBePublic: boolean;
  /** Returns several candidates where a network chooses its own prefix length. */
  readonly read: (value: bigint) => readonly bigint[];
}

const IPV4_MASK = 0xffff_ffffn;
const ISATAP: ReadonlySet<bigint> = new Set([0x5efen, 0x0200_5efen]);

const last32 = (value: bigint): readonly bigint[] => [bitsAt(value, 96n)];
/** RFC 6052, 2.2: bits 64 to 71 are always zero and not part of the address. */
const translated =
  (prefix: bigint) =>
  (value: bigint): bigint => {
    const rest = ((value >> 64n) << 56n) | (value & ((1n << 56n) - 1n));
    return (rest >> (120n - prefix - 32n)) & IPV4_MASK;
  };
/** Reading with the wrong prefix length mostly gives 0.x.x.x, which no translator accepts. */
const ofAnyLength = (value: bigint): readonly bigint[] =>
  [...last32(value), ...[48n, 56n, 64n].map((prefix) => translated(prefix)(value))].filter(
    (embedded) => embedded >> 24n !== 0n,
  );

const FORMS: readonly Form[] = [
  // IPv4-mapped, stateless translation (RFC 2765), and the deprecated IPv4-compatible form.
  form("::ffff:0:0/96", "any", last32),
  form("::ffff:0:0:0/96", "any", last32),
  form("::/96", "any", (value) => (value > 1n ? last32(value) : [])),
  // NAT64: the well-known prefix, and the local-use prefix, within which networks choose the length.
  form("64:ff9b::/96", "public", last32),
  form("64:ff9b:1::/48", "any", ofAnyLength),
  // 6to4.
  form("2002::/16", "public", (value) => [bitsAt(value, 16n)]),
  // Teredo: its server, and its client with inverted bits.
  form("2001::/32", "public", (value) => [bitsAt(value, 32n), bitsAt(value, 96n) ^ IPV4_MASK]),
  // ISATAP has no prefix of its own, only a mark in the middle.
  form("::/0", "any", (value) => (ISATAP.has(bitsAt(value, 64n)) ? last32(value) : [])),
];

/** Empty for an IPv4 address, and for an IPv6 address without an embedded one. */
export function embeddedAddresses({ family, value }: IpAddress): readonly EmbeddedAddress[] {
  if (family === "IPv4") return [];
  return FORMS.filter(({ block }) => cidrContains(block, { family, value })).flatMap(
    ({ read, mustBePublic }) =>
      read(value).map((embedded) => ({
        address: { family: "IPv4", value: embedded } as const,
        mustBePublic,
      })),
  );
}

/** The 32 bits that start at bit `first`, counted from the left as in RFCs. */
function bitsAt(value: bigint, first: bigint): bigint {
  return (value >> (96n - first)) & IPV4_MASK;
}

function form(text: string, valid: "any" | "public", read: Form["read"]): Form {
  const block = findCidr(text);
  if (block === undefined) throw new Error(`expected an IPv6 block, found ${text}`);
  return { block, mustBePublic: valid === "public", read };
}
