/**
 * Resolves an unquoted YAML scalar as kubectl and kube-apiserver do. Their library follows YAML 1.1 in parts: `yes` is
 * true, `0644` is octal, `1_000` is a number. Reader and writer share these rules, so that written values read back the
 * same.
 */

const KEYWORDS: ReadonlyMap<string, boolean | null> = new Map<string, boolean | null>([
  ["", null],
  ...["~", "null", "Null", "NULL"].map((text) => [text, null] as const),
  ...["y", "Y", "yes", "Yes", "YES", "on", "On", "ON", "true", "True", "TRUE"].map(
    (text) => [text, true] as const,
  ),
  ...["n", "N", "no", "No", "NO", "off", "Off", "OFF", "false", "False", "FALSE"].map(
    (text) => [text, false] as const,
  ),
]);

const SPECIAL_FLOATS = new Map([
  ...["", "+", "-"].flatMap((sign) =>
    [".inf", ".Inf", ".INF"].map((text) => [sign + text, sign === "-" ? -Infinity : Infinity] as const),
  ),
  ...[".nan", ".NaN", ".NAN"].map((text) => [text, NaN] as const),
]);

const INTEGER = /^([-+]?)(0[xX][0-9a-fA-F]+|0[bB][01]+|0[oO]?[0-7]+|0|[1-9][0-9]*)$/;
const FLOAT = /^[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?$/;
/** Longer than any uint64 in any base, including sign and underscores. */
const INTEGER_LENGTH_MAX = 100;
const UINT64_MAX = 2n ** 64n - 1n;
const INT64_MIN = -(2n ** 63n);

/** Text that other YAML parsers read as a time or as a base-60 number; the writer quotes it. */
const TIME_LIKE = /^[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}([Tt \t].*)?$/;
const BASE_60 = /^[-+]?[0-9][0-9_]*(:[0-5]?[0-9])+(\.[0-9_]*)?$/;

export type YamlScalar = string | number | bigint | boolean | null;

/** null, a boolean, a number, a bigint beyond 2^53, or the text itself. */
export function resolveYamlScalar(text: string): YamlScalar {
  const keyword = KEYWORDS.get(text);
  if (keyword !== undefined) return keyword;
  const first = text.charCodeAt(0);
  // A number begins with a digit, a sign or a dot.
  const isNumeric = (first >= 0x30 && first <= 0x39) || first === 0x2b || first === 0x2d || first === 0x2e;
  return isNumeric ? (findNumber(text) ?? text) : text;
}

/** True if a parser would not read the unquoted text as this string. */
export function isAmbiguousYaml(text: string): boolean {
  return resolveYamlScalar(text) !== text || text === "<<" || TIME_LIKE.test(text) || BASE_60.test(text);
}

function findNumber(text: string): number | bigint | undefined {
  const special = SPECIAL_FLOATS.get(text);
  if (special !== undefined) return special;
  const plain = text.replaceAll("_", "");
  const integer = plain.length > INTEGER_LENGTH_MAX ? null : INTEGER.exec(plain);
  const value = integer === null ? undefined : findInteger(integer[1] ?? "", integer[2] ?? "");
  if (value !== undefined) return value;
  return FLOAT.test(plain) ? Number(plain) : undefined;
}

/** Undefined if the value fits neither int64 nor uint64. */
function findInteger(sign: string, digits: string): number | bigint | undefined {
  const isOctal = /^0[0-7]/.test(digits);
  const magnitude = BigInt(isOctal ? `0o${digits}` : digits.replace("O", "o"));
  const value = sign === "-" ? -magnitude : magnitude;
  if (value > UINT64_MAX || value < INT64_MIN) return undefined;
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : value;
}
