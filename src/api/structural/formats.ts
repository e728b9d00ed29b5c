/** The formats of strings that are checked; all others are notes for people. A dash in a name is of no meaning. */
import { findCidr, findIpAddress } from "../ip-address.ts";
import { dns1123Label, dns1123Subdomain } from "../names.ts";
import { parseQuantity } from "../quantity.ts";
import { findInstant, parseDuration } from "../time.ts";

const UUID = /^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i;
const UUID3 = /^[0-9a-f]{8}-?[0-9a-f]{4}-?3[0-9a-f]{3}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i;
const UUID4 = /^[0-9a-f]{8}-?[0-9a-f]{4}-?4[0-9a-f]{3}-?[89ab][0-9a-f]{3}-?[0-9a-f]{12}$/i;
const UUID5 = /^[0-9a-f]{8}-?[0-9a-f]{4}-?5[0-9a-f]{3}-?[89ab][0-9a-f]{3}-?[0-9a-f]{12}$/i;
const HOST_LABEL = /^[a-z0-9\p{S}\p{L}](?:[a-z0-9\-\p{S}\p{L}]{0,61}[a-z0-9\p{S}\p{L}])?$/iu;
const MAC = /^(?:[0-9a-f]{2}([:-])(?:[0-9a-f]{2}\1){4,18}[0-9a-f]{2}|(?:[0-9a-f]{4}\.){2,9}[0-9a-f]{4})$/i;
const HEX_COLOR = /^#?(?:[0-9a-fA-F]{3}|[0-9a-fA-F]{6})$/;
const RGB_COLOR = /^rgb\(\s*(\d{1,3})\s*,\s*(\d{1,3})\s*,\s*(\d{1,3})\s*\)$/;
const SSN = /^\d{3}[- ]?\d{2}[- ]?\d{4}$/;
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=|[A-Za-z0-9+/]{4})$/;
const CREDIT_CARD =
  /^(?:4\d{12}(?:\d{3})?|5[1-5]\d{14}|6(?:011|5\d\d)\d{12}|3[47]\d{13}|3(?:0[0-5]|[68]\d)\d{11}|(?:2131|1800|35\d{3})\d{11})$/;
/** A mailbox, with or without a name before it: `a@b.c`, `Ann <a@b.c>`. */
const ADDRESS = /^[^\s@<>(),;:\\"[\]]+@[^\s@<>(),;:\\"[\]]+$/;
const NAMED_ADDRESS = /^[^<>]*<([^<>]*)>$/;
const SCALA_DURATION =
  /^\d+ *(?:ns|nanos?|nanoseconds?|us|µs|micros?|microseconds?|ms|millis?|milliseconds?|s|secs?|seconds?|m|mins?|minutes?|h|hrs?|hours?|d|days?|w|wks?|weeks?)$/;

const HOST_MAX = 255;

const FORMATS: ReadonlyMap<string, (text: string) => boolean> = new Map<string, (text: string) => boolean>([
  ["bsonobjectid", (text) => /^[0-9a-fA-F]{24}$/.test(text)],
  ["byte", (text) => text === "" || BASE64.test(text)],
  ["cidr", (text) => findCidr(text) !== undefined],
  ["creditcard", (text) => isCreditCard(text.replaceAll(/\D/g, ""))],
  ["date", (text) => /^\d{4}-\d{2}-\d{2}$/.test(text) && findInstant(`${text}T00:00:00Z`) !== undefined],
  ["datetime", isDateTime],
  ["duration", isDuration],
  ["email", isEmail],
  ["hexcolor", (text) => HEX_COLOR.test(text)],
  ["hostname", isHostname],
  ["ipv4", (text) => findIpAddress(text)?.family === "IPv4"],
  ["ipv6", (text) => findIpAddress(text)?.family === "IPv6"],
  ["isbn", (text) => isIsbn10(text) || isIsbn13(text)],
  ["isbn10", isIsbn10],
  ["isbn13", isIsbn13],
  ["k8slongname", (text) => dns1123Subdomain(text).length === 0],
  ["k8sshortname", (text) => dns1123Label(text).length === 0],
  ["mac", (text) => MAC.test(text)],
  ["password", () => true],
  ["quantity", (text) => succeeds(() => parseQuantity(text))],
  [
    "rgbcolor",
    (text) =>
      RGB_COLOR.exec(text)
        ?.slice(1)
        .every((part) => Number(part) <= 255) === true,
  ],
  ["ssn", (text) => SSN.test(text)],
  ["uri", isUri],
  ["uuid", (text) => UUID.test(text)],
  ["uuid3", (text) => UUID3.test(text)],
  ["uuid4", (text) => UUID4.test(text)],
  ["uuid5", (text) => UUID5.test(text)],
]);

/** Whether the text has the format; a format that nobody knows is had by every text. */
export function hasFormat(format: string, text: string): boolean {
  return FORMATS.get(format.replaceAll("-", ""))?.(text) ?? true;
}

/** Longer texts are none of these, and would only cost time. */
const CHECKED_MAX = 10_000;

function isDateTime(text: string): boolean {
  const upper = text.toUpperCase();
  // A zone may be left out here, unlike in the times of metadata.
  return findInstant(upper) !== undefined || findInstant(`${upper}Z`) !== undefined;
}

function isDuration(text: string): boolean {
  return SCALA_DURATION.test(text.slice(0, CHECKED_MAX)) || succeeds(() => parseDuration(text));
}

function isEmail(text: string): boolean {
  if (text.length > CHECKED_MAX) return false;
  const [, inner = text] = NAMED_ADDRESS.exec(text) ?? [];
  return ADDRESS.test(inner.trim());
}

function isHostname(text: string): boolean {
  if (text.length > HOST_MAX) return false;
  return text.split(".").every((label) => HOST_LABEL.test(label));
}

/** As a request names it: a path, or everything after a scheme. */
function isUri(text: string): boolean {
  if (text === "" || /[\s\p{Cc}]/u.test(text)) return false;
  return text.startsWith("/") || /^[a-z][a-z0-9+.-]*:./i.test(text);
}

function isIsbn10(text: string): boolean {
  const digits = text.replaceAll(/[\s-]/g, "");
  if (!/^\d{9}[\dX]$/.test(digits)) return false;
  return weighted(digits, (at) => at + 1) % 11 === 0;
}

function isIsbn13(text: string): boolean {
  const digits = text.replaceAll(/[\s-]/g, "");
  if (!/^97[89]\d{10}$/.test(digits)) return false;
  return weighted(digits, (at) => (at % 2 === 0 ? 1 : 3)) % 10 === 0;
}

function weighted(digits: string, weight: (at: number) => number): number {
  let sum = 0;
  for (let at = 0; at < digits.length; at++) {
    const digit = digits.charAt(at);
    sum += weight(at) * (digit === "X" ? 10 : Number(digit));
  }
  return sum;
}

/** Every second digit from the right is doubled; the sum of all digits ends in zero. */
function isCreditCard(digits: string): boolean {
  if (!CREDIT_CARD.test(digits)) return false;
  let sum = 0;
  for (let at = 0; at < digits.length; at++) {
    const digit = Number(digits.charAt(digits.length - 1 - at));
    const doubled = at % 2 === 0 ? digit : digit * 2;
    sum += doubled > 9 ? doubled - 9 : doubled;
  }
  return sum % 10 === 0;
}

function succeeds(parse: () => unknown): boolean {
  try {
    parse();
    return true;
  } catch (error) {
    if (error instanceof SyntaxError) return false;
    throw error;
  }
}
