/**
 * Kubernetes quantities: exact decimal numbers with a suffix (`500m`, `1Gi`, `12e6`).
 *
 * A quantity is held as a whole number of billionths together with the family of its suffix, so that
 * arithmetic is exact and the canonical text is a pure function of the two. Texts that mean the same in the
 * same family have the same canonical text; Go keeps a few others as they were sent (`1.500`, `+1`), which
 * would break that, so they are written canonically here.
 */

export type QuantityFormat = "DecimalSI" | "BinarySI" | "DecimalExponent";

export interface Quantity {
  /** The value in billionths. */
  readonly nano: bigint;
  readonly format: QuantityFormat;
}

/** The texts are upstream's; clients match them. */
const FORMAT_WRONG =
  "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";
const NUMERIC_WRONG = "unable to parse numeric part of quantity";
const SUFFIX_WRONG = "unable to parse quantity's suffix";

/** Sign, whole digits, fraction digits, suffix. No two parts can claim the same character, so it is linear. */
const PARTS = /^([+-]?)([0-9]*)(?:\.([0-9]*))?((?:[eEinumkKMGTP]+[-+]?[0-9]*|[-+][0-9]*)?)$/;
const EXPONENT = /^[eE][+-]?[0-9]+$/;

/** Texts that already are canonical, by far the most: whole, no superfluous zeros, far from every bound. */
const CANONICAL_DECIMAL = /^[1-9][0-9]{0,14}[numkMGTPE]?$/;
const CANONICAL_BINARY = /^([1-9][0-9]{0,5})[KMGT]i$/;

/** More digits than any resource needs, few enough that one quantity costs microseconds. Upstream has no limit. */
const DIGITS_MAX = 400;

const NANO_DIGITS = 9;
const NANO = 10n ** 9n;
/** In billionths. */
const THOUSANDTH = 10n ** 6n;
/** Binary quantities are capped here, as upstream caps them. */
const BINARY_MAX = (2n ** 63n - 1n) * NANO;

const DECIMAL_EXPONENTS = new Map([
  ["n", -9],
  ["u", -6],
  ["m", -3],
  ["", 0],
  ["k", 3],
  ["M", 6],
  ["G", 9],
  ["T", 12],
  ["P", 15],
  ["E", 18],
]);
const DECIMAL_SUFFIXES = new Map([...DECIMAL_EXPONENTS].map(([suffix, exponent]) => [exponent, suffix]));
const BINARY_SUFFIXES = ["", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"];

/** Throws a SyntaxError whose message is upstream's. Values finer than a billionth are rounded away from zero. */
export function parseQuantity(text: string): Quantity {
  const parts = text === "" ? null : PARTS.exec(text);
  if (parts === null) throw new SyntaxError(FORMAT_WRONG);
  const [, sign = "", whole = "", fraction = "", suffix = ""] = parts;
  const { exponent, factor, format } = interpretSuffix(suffix);
  const magnitude = toNano({ whole, fraction, exponent, factor });
  const signed = (value: bigint): bigint => (sign === "-" ? -value : value);
  if (format !== "BinarySI") return { nano: signed(magnitude), format };
  if (magnitude > BINARY_MAX) return { nano: signed(BINARY_MAX), format };
  // Less than one cannot be shown with a binary suffix.
  return { nano: signed(magnitude), format: magnitude > 0n && magnitude < NANO ? "DecimalSI" : format };
}

/** The text Go writes: no fraction, the largest suffix that loses nothing, no plus sign. */
export function formatQuantity({ nano, format }: Quantity): string {
  if (nano === 0n) return "0";
  const magnitude = nano < 0n ? -nano : nano;
  const sign = nano < 0n ? "-" : "";
  // A binary suffix cannot show fractions and says nothing below 1024.
  const isBinary = format === "BinarySI" && magnitude >= 1024n * NANO && magnitude % NANO === 0n;
  return sign + (isBinary ? binaryText(magnitude / NANO) : decimalText(magnitude, format));
}

/** The canonical form of a quantity's text. Blanks around it are ignored, as upstream's decoder does. */
export function canonicalQuantity(text: string): string {
  if (CANONICAL_DECIMAL.test(text)) {
    const end = text.charCodeAt(text.length - 1) > 0x39 ? text.length - 1 : text.length;
    if (!text.endsWith("000", end)) return text;
  }
  const binary = CANONICAL_BINARY.exec(text);
  if (binary !== null && Number(binary[1]) % 1024 !== 0) return text;
  return formatQuantity(parseQuantity(text.trim()));
}

/** Canonical texts of what has smaller parts than thousandths. */
const FINER = /(?:[nu]|e-[69])$/;

/** A canonical text, rounded away from zero to thousandths. */
export function inThousandths(text: string): string {
  if (!FINER.test(text)) return text;
  const { nano, format } = parseQuantity(text);
  return formatQuantity({ nano: divideAwayFromZero(nano, THOUSANDTH) * THOUSANDTH, format });
}

/** Negative, zero or positive, as `left` is less than, equal to or greater than `right`; formats do not matter. */
export function compareQuantities(left: Quantity, right: Quantity): number {
  if (left.nano === right.nano) return 0;
  return left.nano < right.nano ? -1 : 1;
}

/** The sum is written in the format of `left`, or of `right` when `left` is zero. */
export function addQuantities(left: Quantity, right: Quantity): Quantity {
  return { nano: left.nano + right.nano, format: left.nano === 0n ? right.format : left.format };
}

/** The difference is written in the format of `left`, or of `right` when `left` is zero. */
export function subtractQuantities(left: Quantity, right: Quantity): Quantity {
  return addQuantities(left, { nano: -right.nano, format: right.format });
}

/** The nearest double. */
export function quantityToNumber({ nano }: Quantity): number {
  return Number(`${nano}e-9`);
}

/** Whole units, rounded away from zero. */
export function quantityValue({ nano }: Quantity): bigint {
  return divideAwayFromZero(nano, NANO);
}

/** Thousandths, rounded away from zero. */
export function quantityMilliValue({ nano }: Quantity): bigint {
  return divideAwayFromZero(nano, THOUSANDTH);
}

/** The number before the suffix is multiplied by `factor` and by ten to the power of `exponent`. */
interface Suffix {
  readonly exponent: number;
  readonly factor: bigint;
  readonly format: QuantityFormat;
}

function interpretSuffix(suffix: string): Suffix {
  const decimal = DECIMAL_EXPONENTS.get(suffix);
  if (decimal !== undefined) return { exponent: decimal, factor: 1n, format: "DecimalSI" };
  const binary = BINARY_SUFFIXES.indexOf(suffix);
  if (binary > 0) return { exponent: 0, factor: 1024n ** BigInt(binary), format: "BinarySI" };
  if (!EXPONENT.test(suffix)) throw new SyntaxError(SUFFIX_WRONG);
  return { exponent: Number(suffix.slice(1)), factor: 1n, format: "DecimalExponent" };
}

/** An integer times a power of ten. */
export interface SmallAmount {
  readonly value: bigint;
  readonly scale: number;
}

/** Digits that always fit into 64 bits. */
const SMALL_DIGITS = 18;
const SMALL_BINARY_DIGITS = 14;

/**
 * What Go keeps a quantity as when its digits are few; `undefined` where it takes a decimal of any size. Only of small amounts does it
 * tell whether they are integers. The text is a quantity.
 */
export function smallAmountOf(text: string): SmallAmount | undefined {
  const [, sign = "", whole = "", fraction = "", suffix = ""] = PARTS.exec(text) ?? [];
  const { exponent, factor, format } = interpretSuffix(suffix);
  const digits = (whole.replace(/^0+/, "") || "0") + fraction;
  const scale = exponent - fraction.length;
  const room = format === "BinarySI" ? binaryRoom(suffix, fraction) : SMALL_DIGITS;
  if (digits.length > room || scale < -NANO_DIGITS) return undefined;
  const value = BigInt(digits) * factor;
  return { value: sign === "-" ? -value : value, scale };
}

/** A power of 1024 takes some three digits, and a fraction of it is never small. */
function binaryRoom(suffix: string, fraction: string): number {
  return fraction === "" ? SMALL_BINARY_DIGITS - 3 * BINARY_SUFFIXES.indexOf(suffix) : 0;
}

interface Magnitude {
  readonly whole: string;
  readonly fraction: string;
  readonly exponent: number;
  readonly factor: bigint;
}

function toNano({ whole, fraction, exponent, factor }: Magnitude): bigint {
  const digits = (whole + fraction).replace(/^0+/, "");
  if (digits === "") return 0n;
  const shift = exponent - fraction.length + NANO_DIGITS;
  if (digits.length + Math.max(shift, 0) > DIGITS_MAX) throw new SyntaxError(NUMERIC_WRONG);
  if (shift >= 0) return BigInt(digits) * factor * 10n ** BigInt(shift);
  // Below this the value is a fraction of a billionth whatever its digits are; a larger power need not be made.
  if (-shift > 2 * DIGITS_MAX) return 1n;
  return divideAwayFromZero(BigInt(digits) * factor, 10n ** BigInt(-shift));
}

function divideAwayFromZero(dividend: bigint, divisor: bigint): bigint {
  const quotient = dividend / divisor;
  if (quotient * divisor === dividend) return quotient;
  return dividend < 0n ? quotient - 1n : quotient + 1n;
}

function binaryText(value: bigint): string {
  let mantissa = value;
  let power = 0;
  while (power < BINARY_SUFFIXES.length - 1 && mantissa % 1024n === 0n) {
    mantissa /= 1024n;
    power++;
  }
  return `${mantissa}${BINARY_SUFFIXES[power]}`;
}

function decimalText(nano: bigint, format: QuantityFormat): string {
  const digits = nano.toString();
  const zeros = digits.length - digits.replace(/0+$/, "").length;
  // The exponent is a multiple of three and never below that of a billionth.
  const kept = zeros - (zeros % 3);
  const exponent = kept - NANO_DIGITS;
  const mantissa = digits.slice(0, digits.length - kept);
  const suffix = format === "DecimalExponent" ? undefined : DECIMAL_SUFFIXES.get(exponent);
  if (suffix !== undefined) return mantissa + suffix;
  return exponent === 0 ? mantissa : `${mantissa}e${exponent}`;
}
