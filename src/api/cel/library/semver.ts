/** CEL library of versions, in the order of semver 2.0. */
import { quoted } from "../../values/message-text.ts";
import { findSemanticVersion } from "../../values/semantic-version.ts";
import type { SemanticVersion } from "../../values/semantic-version.ts";
import { CelEvaluationError } from "../cel-error.ts";
import type { Library } from "../overload.ts";
import { type CelValue, Opaque } from "../value.ts";

/** Longest text of a version; longer texts are not versions and are not normalized. */
const TEXT_MAX = 1000;

/** The version without a leading `v` or leading zeros, with three numbers: `v01.2` becomes `1.2.0`. */
function normalized(text: string): string {
  if (text.length > TEXT_MAX) return text;
  const [, core = "", rest = ""] = /^v?([^-+]*)([^]*)$/.exec(text) ?? [];
  const numbers = core.split(".").map((number) => number.replace(/^0+(?=\d)/, ""));
  while (numbers.length < 3) numbers.push("0");
  return numbers.join(".") + rest;
}

export function semver(text: string): CelValue {
  const version = findSemanticVersion(text);
  if (version === undefined)
    throw new CelEvaluationError(`invalid semantic version ${quoted(text.slice(0, 100))}`);
  return new Opaque("kubernetes.Semver", version, `${version.numbers.join(".")}-${version.pre.join(".")}`);
}

function versionOf(value: CelValue): SemanticVersion {
  return (value as Opaque<SemanticVersion>).content;
}

function compare(left: CelValue, right: CelValue): number {
  const [one, other] = [versionOf(left), versionOf(right)];
  for (const [at, number] of one.numbers.entries()) {
    const against = other.numbers[at] ?? 0n;
    if (number !== against) return number < against ? -1 : 1;
  }
  // A pre-release is less than its release.
  if (one.pre.length === 0 || other.pre.length === 0)
    return Number(one.pre.length === 0) - Number(other.pre.length === 0);
  return comparePre(one.pre, other.pre);
}

function comparePre(left: readonly string[], right: readonly string[]): number {
  for (const [at, part] of left.entries()) {
    const against = right[at];
    if (against === undefined) return 1;
    const order = comparePart(part, against);
    if (order !== 0) return order;
  }
  return left.length === right.length ? 0 : -1;
}

/** Orders numbers by value, and before all texts. */
function comparePart(left: string, right: string): number {
  const [isNumber, isOtherNumber] = [/^\d+$/.test(left), /^\d+$/.test(right)];
  if (isNumber !== isOtherNumber) return isNumber ? -1 : 1;
  if (isNumber && left.length !== right.length) return left.length < right.length ? -1 : 1;
  return left < right ? -1 : left > right ? 1 : 0;
}

function shaped(text: CelValue, isLenient: CelValue): string {
  return isLenient === true ? normalized(text as string) : (text as string);
}

const TYPE = "kubernetes.Semver";

export const VERSIONS: Library = [
  [`semver(string): ${TYPE}`, ([text]) => semver(text as string)],
  [`semver(string, bool): ${TYPE}`, ([text, isLenient]) => semver(shaped(text, isLenient))],
  ["isSemver(string): bool", ([text]) => findSemanticVersion(text as string) !== undefined],
  [
    "isSemver(string, bool): bool",
    ([text, isLenient]) => findSemanticVersion(shaped(text, isLenient)) !== undefined,
  ],
  [`${TYPE} -> major(): int`, ([version]) => versionOf(version).numbers[0]],
  [`${TYPE} -> minor(): int`, ([version]) => versionOf(version).numbers[1]],
  [`${TYPE} -> patch(): int`, ([version]) => versionOf(version).numbers[2]],
  [`${TYPE} -> isLessThan(${TYPE}): bool`, ([one, other]) => compare(one, other) < 0],
  [`${TYPE} -> isGreaterThan(${TYPE}): bool`, ([one, other]) => compare(one, other) > 0],
  [`${TYPE} -> compareTo(${TYPE}): int`, ([one, other]) => BigInt(compare(one, other))],
];
