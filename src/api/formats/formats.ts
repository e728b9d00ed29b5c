/** The string formats that validation checks; other formats are documentation. Dashes in a format's name do not count. */
import { findIpAddress, isLooseCidr, isLooseIpAddress } from "../values/ip-address.ts";
import { dns1123Label, dns1123Subdomain } from "../values/names.ts";
import { findInstant, parseDuration } from "../values/time.ts";
import { isRequestUri } from "./request-uri.ts";

const UUID = /^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i;
const UUID3 = /^[0-9a-f]{8}-?[0-9a-f]{4}-?3[0-9a-f]{3}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i;
const UUID4 = /^[0-9a-f]{8}-?[0-9a-f]{4}-?4[0-9a-f]{3}-?[89ab][0-9a-f]{3}-?[0-9a-f]{12}$/i;
const UUID5 = /^[0-9a-f]{8}-?[0-9a-f]{4}-?5[0-9a-f]{3}-?[89ab][0-9a-f]{3}-?[0-9a-f]{12}$/i;
/** Hostnames. A name of one label has at most one dash; the last label of a longer name has no dash and no digit. */
const HOST_ALONE = /^[0-9\p{S}\p{L}](?:-?[0-9\p{S}\p{L}]{0,62})?$/u;
const HOST_LABEL = /^[0-9\p{S}\p{L}](?:[0-9\-\p{S}\p{L}]{0,61}[0-9\p{S}\p{L}])?$/u;
const HOST_LAST = /^\p{L}{2,63}$/u;
const MAC_PAIRS = /^[0-9a-f]{2}(?:([:-])[0-9a-f]{2}(?:\1[0-9a-f]{2})*)?$/i;
const MAC_FOURS = /^[0-9a-f]{4}(?:\.[0-9a-f]{4})+$/i;
const MAC_BARE = /^[0-9a-f]+$/i;
/** Numbers of hexadecimal digits: EUI-48, EUI-64 and InfiniBand. */
const MAC_DIGITS: ReadonlySet<number> = new Set([12, 16, 40]);
const HEX_COLOR = /^#?(?:[0-9a-fA-F]{3}|[0-9a-fA-F]{6})$/;
const RGB_COLOR = /^rgb\(\s*(0|[1-9]\d{0,2})\s*,\s*(0|[1-9]\d{0,2})\s*,\s*(0|[1-9]\d{0,2})\s*\)$/;
const SSN = /^\d{3}[- ]\d{2}[- ]\d{4}$/;
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=|[A-Za-z0-9+/]{4})$/;
const CREDIT_CARD =
  /^(?:4\d{12}(?:\d{3})?|5[1-5]\d{14}|6(?:011|5\d\d)\d{12}|3[47]\d{13}|3(?:0[0-5]|[68]\d)\d{11}|(?:2131|1800|35\d{3})\d{11})$/;
/** A mailbox, with or without a display name: `a@b.c`, `Ann <a@b.c>`. */
const ADDRESS = /^(?:[^\s@<>(),;:\\"[\]]+|"(?:[^"\\]|\\.)*")@[^\s@<>(),;:\\"[\]]+$/;
const NAMED_ADDRESS = /^[^<>]*<([^<>]*)>$/;
/**
 * Numbers with units anywhere in the text; one known unit makes a duration. The lookbehind avoids a retry at each digit of a
 * number.
 */
const COUNTED_UNIT = /(?<!\d)(\d+)[\t\n\f\r ]*([A-Za-zµ]+)/g;
const UNIT = /^(?:ns|us|µs|ms|s|m|h|hr|d|w|wk)$|^(?:nano|micro|milli|sec|min|hour|day|week)/i;
const COUNT_MAX = 2n ** 63n - 1n;
const CLOCK = /^([0-9]{2}):([0-9]{2}):([0-9]{2})(?:.[0-9]+)?(?:z|[+-][0-9]{2}:[0-9]{2})$/;

/** Upper bounds of a hostname and of its labels, in bytes. */
const HOST_MAX = 255;
const LABEL_MAX = 63;

const FORMATS: ReadonlyMap<string, (text: string) => boolean> = new Map<string, (text: string) => boolean>([
  ["bsonobjectid", (text) => /^[0-9a-fA-F]{24}$/.test(text)],
  ["byte", (text) => BASE64.test(text)],
  ["cidr", isLooseCidr],
  ["creditcard", (text) => isCreditCard(text.replaceAll(/\D/g, ""))],
  ["date", isDate],
  ["datetime", isDateTime],
  ["duration", isDuration],
  ["email", isEmail],
  ["hexcolor", (text) => HEX_COLOR.test(text)],
  ["hostname", isHostname],
  ["ipv4", (text) => isLooseIpAddress(text) && text.includes(".")],
  ["ipv6", (text) => findIpAddress(text)?.family === "IPv6"],
  ["isbn", (text) => isIsbn10(text) || isIsbn13(text)],
  ["isbn10", isIsbn10],
  ["isbn13", isIsbn13],
  ["k8slongname", (text) => dns1123Subdomain(text).length === 0],
  ["k8sshortname", (text) => dns1123Label(text).length === 0],
  ["mac", isMac],
  ["password", () => true],
  [
    "rgbcolor",
    (text) =>
      RGB_COLOR.exec(text)
        ?.slice(1)
        .every((part) => Number(part) <= 255) === true,
  ],
  ["ssn", (text) => SSN.test(text)],
  ["uri", isRequestUri],
  ["uuid", (text) => UUID.test(text)],
  ["uuid3", (text) => UUID3.test(text)],
  ["uuid4", (text) => UUID4.test(text)],
  ["uuid5", (text) => UUID5.test(text)],
]);

/** True for a format that validation checks on texts. */
export function isTextFormat(format: string): boolean {
  return FORMATS.has(format.replaceAll("-", ""));
}

/** True when the text has the format. Every text has an unknown format. */
export function hasFormat(format: string, text: string): boolean {
  return FORMATS.get(format.replaceAll("-", ""))?.(text) ?? true;
}

/** Longest text of an e-mail address, and longest scanned prefix of a duration: a bound on time. */
const CHECKED_MAX = 10_000;

function isDate(text: string): boolean {
  return /^\d{4}-\d{2}-\d{2}$/.test(text) && findInstant(`${text}T00:00:00Z`) !== undefined;
}

function isDateTime(text: string): boolean {
  const [date = "", clock = ""] = text.toLowerCase().split("t");
  const [, hour = "", minute = "", second = ""] = CLOCK.exec(clock) ?? [];
  return isDate(date) && hour !== "" && hour <= "23" && minute <= "59" && second <= "59";
}

function isDuration(text: string): boolean {
  if (succeeds(() => parseDuration(text))) return true;
  let isKnown = false;
  for (const [, count = "", unit = ""] of text.slice(0, CHECKED_MAX).matchAll(COUNTED_UNIT)) {
    if (BigInt(count) > COUNT_MAX) return false;
    isKnown ||= UNIT.test(unit);
  }
  return isKnown;
}

function isMac(text: string): boolean {
  const digits = text.replaceAll(/[:.-]/g, "").length;
  if (!MAC_DIGITS.has(digits)) return false;
  return MAC_PAIRS.test(text) || MAC_FOURS.test(text) || MAC_BARE.test(text);
}

function isEmail(text: string): boolean {
  if (text.length > CHECKED_MAX) return false;
  const [, inner = text] = NAMED_ADDRESS.exec(text) ?? [];
  return ADDRESS.test(inner.trim());
}

function isHostname(text: string): boolean {
  if (Buffer.byteLength(text) > HOST_MAX) return false;
  const labels = text.split(".");
  if (labels.some((label) => Buffer.byteLength(label) > LABEL_MAX)) return false;
  const last = labels.pop() ?? "";
  if (labels.length === 0) return HOST_ALONE.test(last);
  return HOST_LAST.test(last) && labels.every((label) => HOST_LABEL.test(label));
}

function isIsbn10(text: string): boolean {
  const digits = text.replaceAll(/[\s-]/g, "");
  if (!/^\d{9}[\dX]$/.test(digits)) return false;
  return weighted(digits, (at) => at + 1) % 11 === 0;
}

function isIsbn13(text: string): boolean {
  const digits = text.replaceAll(/[\s-]/g, "");
  if (!/^\d{13}$/.test(digits)) return false;
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

/** The Luhn check: with every second digit from the right doubled, the sum of all digits ends in zero. */
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
