/** Which addresses may be dialled. What a name stands for is checked once it is known, and that very address is then dialled. */
import { type Cidr, cidrContains, findCidr, findIpAddress, type IpAddress } from "../../api/ip-address.ts";

/**
 * Who said where to connect to. `configured`: somebody who may register webhooks or APIs, which on a developer's machine are often at
 * loopback. `reported`: an object's status or endpoints, which whoever may write that object could aim at the server's own machine.
 */
export type AddressOrigin = "configured" | "reported";

/** Of the machine's neighbours, among them the metadata services of clouds; of nobody; of many. */
const NEVER = blocks(["169.254.0.0/16", "fe80::/10", "0.0.0.0/8", "::/128", "224.0.0.0/4", "ff00::/8"]);
const LOOPBACK = blocks(["127.0.0.0/8", "::1/128"]);
const MAPPED = blocks(["::ffff:0:0/96"]);

export function isDialable(text: string, origin: AddressOrigin): boolean {
  const found = findIpAddress(text);
  if (found === undefined) return false;
  const address = unmapped(found);
  if (isIn(NEVER, address)) return false;
  return origin === "configured" || !isIn(LOOPBACK, address);
}

/** `::ffff:127.0.0.1` is 127.0.0.1 to the operating system. */
function unmapped(address: IpAddress): IpAddress {
  return isIn(MAPPED, address) ? { family: "IPv4", value: address.value & 0xffff_ffffn } : address;
}

function isIn(ranges: readonly Cidr[], address: IpAddress): boolean {
  return ranges.some((range) => cidrContains(range, address));
}

function blocks(texts: readonly string[]): readonly Cidr[] {
  return texts.map(findCidr).filter((block) => block !== undefined);
}
