/**
 * Decides which addresses the server may dial. A name is resolved first, and the checked address itself is dialled.
 */
import {
  type Cidr,
  cidrContains,
  findCidr,
  findIpAddress,
  type IpAddress,
} from "../../api/values/ip-address.ts";
import { embeddedAddresses } from "./embedded-addresses.ts";

/**
 * Source of an address. `configured`: a client that may register webhooks or APIs; on a developer's machine these are
 * often at loopback. `reported`: an object's status or endpoints, whose writer could aim at the server's own machine.
 */
export type AddressOrigin = "configured" | "reported";

/** Link-local (includes most clouds' metadata services), unspecified, multicast, reserved and broadcast. */
const NEVER = blocks([
  "169.254.0.0/16",
  "fe80::/10",
  "0.0.0.0/8",
  "::/128",
  "224.0.0.0/4",
  "240.0.0.0/4",
  "ff00::/8",
  // IETF protocol assignments; contains Oracle's metadata service at 192.0.0.192.
  "192.0.0.0/24",
  // Metadata services outside link-local: Alibaba, Azure's host, AWS, Google, Scaleway, Akamai, Oracle.
  "100.100.100.200/32",
  "168.63.129.16/32",
  "fd00:ec2::/32",
  "fd20:ce::254/128",
  "fd00:42::42/128",
  "fd00:a9fe:a9fe::/48",
  "fd00:c1::a9fe:a9fe/128",
]);
const LOOPBACK = blocks(["127.0.0.0/8", "::1/128"]);
const PRIVATE = blocks(["10.0.0.0/8", "100.64.0.0/10", "172.16.0.0/12", "192.168.0.0/16"]);

export function isDialable(text: string, origin: AddressOrigin): boolean {
  const found = findIpAddress(text);
  if (found === undefined || !isAllowed(found, origin)) return false;
  return embeddedAddresses(found).every(
    ({ address, mustBePublic }) =>
      isAllowed(address, mustBePublic ? "reported" : origin) && !(mustBePublic && isIn(PRIVATE, address)),
  );
}

function isAllowed(address: IpAddress, origin: AddressOrigin): boolean {
  if (isIn(NEVER, address)) return false;
  return origin === "configured" || !isIn(LOOPBACK, address);
}

function isIn(ranges: readonly Cidr[], address: IpAddress): boolean {
  return ranges.some((range) => cidrContains(range, address));
}

function blocks(texts: readonly string[]): readonly Cidr[] {
  return texts.map((text) => {
    const block = findCidr(text);
    if (block === undefined) throw new Error(`expected a block of addresses, found ${text}`);
    return block;
  });
}
