/** Maps a remote address to the block that counts as one client: an IPv4 address or an IPv6 /64 network. */

/**
 * The block of a socket's remote address, as text. Sites assign a /64 to each host or home, so one machine can use any
 * address in it. A dual-stack socket writes IPv4 as `::ffff:10.0.0.1`; its block is `10.0.0.1`.
 */
export function addressBlock(remoteAddress: string | undefined): string {
  if (remoteAddress === undefined) return "";
  const address = withoutMapping(remoteAddress);
  return address.includes(":") ? networkOf(address) : address;
}

/** Turns `::ffff:10.0.0.1`, as dual-stack sockets write IPv4, into `10.0.0.1`. */
export function withoutMapping(remoteAddress: string): string {
  return remoteAddress.replace(/^::ffff:(?=\d+\.)/, "");
}

/** `2001:db8::1%eth0` gives `2001:db8:0:0::/64`. The operating system writes addresses in their shortest form. */
function networkOf(address: string): string {
  const [text = ""] = address.split("%", 1);
  const [left = "", right] = text.split("::", 2);
  const head = partsOf(left);
  const tail = right === undefined ? [] : partsOf(right);
  // A trailing IPv4 address counts as two parts.
  const tailLength = tail.length + (text.includes(".") ? 1 : 0);
  const zeros = Array.from({ length: Math.max(0, 8 - head.length - tailLength) }, () => "0");
  return `${[...head, ...zeros, ...tail].slice(0, 4).join(":")}::/64`;
}

function partsOf(text: string): readonly string[] {
  return text === "" ? [] : text.split(":");
}
