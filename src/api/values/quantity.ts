/**
 * Kubernetes quantities: exact decimal numbers with a suffix (`500m`, `1Gi`, `12e6`).
 *
 * A quantity is an integer number of billionths and the family of its suffix. Arithmetic is exact, and equal quantities
 * of one family have equal texts. Go keeps a few texts as the client sent them (`1.500`, `+1`); these become canonical
 * here too.
 */

/** Family of a quantity's suffix: `500m` and `2G` (DecimalSI), `1Gi` (BinarySI), `12e6` (DecimalExponent). */
export type QuantityFormat = "DecimalSI" | "BinarySI" | "DecimalExponent";

/** An exact number and the format of its text. */
export interface Quantity {
  /** The value in billionths. */
  readonly nano: bigint;
  readonly format: QuantityFormat;
}

/** Upstream's messages; clients match them. */
const FORMAT_WRONG =
  "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";
const NUMERIC_WRONG = "unable to parse numeric part of quantity";
const SUFFIX_WRONG = "unable to parse quantity's suffix";

/**
 * Sign, integer digits, fraction digits, suffix. No two parts match the same character, so matching takes linear time.
 */
const PARTS = /^([+-]?)([0-9]*)(?:\.([0-9]*))?((?:[eEinumkKMGTP]+[-+]?[0-9]*|[-+][0-9]*)?)$/;
const EXPONENT = /^[eE][+-]?[0-9]+$/;

/**
 * Fast path for most quantities: integers in canonical form, without trailing zeros to shorten, far from every bound.
 */
const CANONICAL_DECIMAL = /^[1-9][0-9]{0,14}[numkMGTPE]?$/;
const CANONICAL_BINARY = /^([1-9][0-9]{0,5})[KMGT]i$/;

/** No resource needs more digits; one quantity costs microseconds at most. Upstream has no limit. */
const DIGITS_MAX = 400;

const NANO_DIGITS = 9;
const NANO = 10n ** 9n;
/** One thousandth, in billionths. */
const THOUSANDTH = 10n ** 6n;
/** Upper bound for binary quantities, equal to upstream's. */
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

/**
 * Parses a quantity such as `500m` or `1Gi`. Values finer than a billionth are rounded away from zero. Throws a
 * SyntaxError with upstream's message.
 */
export function parseQuantity(text: string): Quantity {
  const parts = text === "" ? null : PARTS.exec(text);
  if (parts === null) throw new SyntaxError(FORMAT_WRONG);
  const [, sign = "", whole = "", fraction = "", suffix = ""] = parts;
  const { exponent, factor, format } = interpretSuffix(suffix);
  const magnitude = toNano({ whole, fraction, exponent, factor });
  const signed = (value: bigint): bigint => (sign === "-" ? -value : value);
  if (format !== "BinarySI") return { nano: signed(magnitude), format };
  if (magnitude > BINARY_MAX) return { nano: signed(BINARY_MAX), format };
  // A binary suffix cannot express values below one.
  return { nano: signed(magnitude), format: magnitude > 0n && magnitude < NANO ? "DecimalSI" : format };
}

/** The canonical text, as Go writes it: no fraction, the largest suffix without loss of precision, no plus sign. */
export function formatQuantity({ nano, format }: Quantity): string {
  if (nano === 0n) return "0";
  const magnitude = nano < 0n ? -nano : nano;
  const sign = nano < 0n ? "-" : "";
  // A binary suffix cannot express fractions, and there is none below 1024.
  const isBinary = format === "BinarySI" && magnitude >= 1024n * NANO && magnitude % NANO === 0n;
  return sign + (isBinary ? binaryText(magnitude / NANO) : decimalText(magnitude, format));
}

/** The canonical text of a quantity's text. Surrounding blanks are ignored, as in upstream's decoder. */
export function canonicalQuantity(text: string): string {
  if (CANONICAL_DECIMAL.test(text)) {
    const end = text.charCodeAt(text.length - 1) > 0x39 ? text.length - 1 : text.length;
    if (!text.endsWith("000", end)) return text;
  }
  const binary = CANONICAL_BINARY.exec(text);
  if (binary !== null && Number(binary[1]) % 1024 !== 0) return text;
  return formatQuantity(parseQuantity(text.trim()));
}

/** Matches canonical texts of values that are not whole thousandths. */
const FINER = /(?:[nu]|e-[69])$/;

/** Rounds a canonical text away from zero to thousandths. */
export function inThousandths(text: string): string {
  if (!FINER.test(text)) return text;
  const { nano, format } = parseQuantity(text);
  return formatQuantity({ nano: divideAwayFromZero(nano, THOUSANDTH) * THOUSANDTH, format });
}

/** Negative, zero or positive if `left` is less than, equal to or greater than `right`. Formats do not matter. */
export function compareQuantities(left: Quantity, right: Quantity): number {
  if (left.nano === right.nano) return 0;
  return left.nano < right.nano ? -1 : 1;
}

/** The exact sum, in the format of `left`, or of `right` if `left` is zero. */
export function addQuantities(left: Quantity, right: Quantity): Quantity {
  return { nano: left.nano + right.nano, format: left.nano === 0n ? right.format : left.format };
}

/** The exact difference, in the format of `left`, or of `right` if `left` is zero. */
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
 * The amount as Go's int64 form, which Go uses if the digits are few. Undefined where Go uses its unbounded decimal. Go
 * answers only for small amounts whether they are integers. The text must be a valid quantity.
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

/** A power of 1024 needs about three digits. Go never uses the small form for a binary quantity with a fraction. */
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
  // The value is below one billionth here whatever its digits are, so the large power is not computed.
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
  // The exponent is a multiple of three and at least -9.
  const kept = zeros - (zeros % 3);
  const exponent = kept - NANO_DIGITS;
  const mantissa = digits.slice(0, digits.length - kept);
  const suffix = format === "DecimalExponent" ? undefined : DECIMAL_SUFFIXES.get(exponent);
  if (suffix !== undefined) return mantissa + suffix;
  return exponent === 0 ? mantissa : `${mantissa}e${exponent}`;
}
