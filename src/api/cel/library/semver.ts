/** Versions as semver 2.0 orders them. */
import { quoted } from "../../message-text.ts";
import { CelEvaluationError } from "../cel-error.ts";
import type { Library } from "../overload.ts";
import { type CelValue, Opaque } from "../value.ts";

interface Version {
  readonly numbers: readonly [major: bigint, minor: bigint, patch: bigint];
  readonly pre: readonly string[];
}

const NUMBER = "(0|[1-9]\\d*)";
const PART = "(?:0|[1-9]\\d*|\\d*[A-Za-z-][0-9A-Za-z-]*)";
const SHAPE = new RegExp(
  `^${NUMBER}\\.${NUMBER}\\.${NUMBER}(?:-(${PART}(?:\\.${PART})*))?(?:\\+[0-9A-Za-z-]+(?:\\.[0-9A-Za-z-]+)*)?$`,
);
/** Longer texts are no version that anybody has. */
const TEXT_MAX = 1000;
const NUMBER_MAX = 2n ** 64n;

function findVersion(text: string): Version | undefined {
  const parts = text.length > TEXT_MAX ? null : SHAPE.exec(text);
  if (parts === null) return undefined;
  const [, major = "", minor = "", patch = "", pre = ""] = parts;
  const numbers = [BigInt(major), BigInt(minor), BigInt(patch)] as const;
  if (numbers.some((number) => number >= NUMBER_MAX)) return undefined;
  return { numbers, pre: pre === "" ? [] : pre.split(".") };
}

/** Without a leading `v` and leading zeros, with three numbers: `v01.2` is `1.2.0`. */
function normalized(text: string): string {
  if (text.length > TEXT_MAX) return text;
  const [, core = "", rest = ""] = /^v?([^-+]*)([^]*)$/.exec(text) ?? [];
  const numbers = core.split(".").map((number) => number.replace(/^0+(?=\d)/, ""));
  while (numbers.length < 3) numbers.push("0");
  return numbers.join(".") + rest;
}

function parse(text: string): CelValue {
  const version = findVersion(text);
  if (version === undefined)
    throw new CelEvaluationError(`invalid semantic version ${quoted(text.slice(0, 100))}`);
  return new Opaque("kubernetes.Semver", version, `${version.numbers.join(".")}-${version.pre.join(".")}`);
}

function versionOf(value: CelValue): Version {
  return (value as Opaque<Version>).content;
}

function compare(left: CelValue, right: CelValue): number {
  const [one, other] = [versionOf(left), versionOf(right)];
  for (const [at, number] of one.numbers.entries()) {
    const against = other.numbers[at] ?? 0n;
    if (number !== against) return number < against ? -1 : 1;
  }
  // What comes before a release is less than it.
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

/** Numbers by their values, and before all texts. */
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
  [`semver(string): ${TYPE}`, ([text]) => parse(text as string)],
  [`semver(string, bool): ${TYPE}`, ([text, isLenient]) => parse(shaped(text, isLenient))],
  ["isSemver(string): bool", ([text]) => findVersion(text as string) !== undefined],
  ["isSemver(string, bool): bool", ([text, isLenient]) => findVersion(shaped(text, isLenient)) !== undefined],
  [`${TYPE} -> major(): int`, ([version]) => versionOf(version).numbers[0]],
  [`${TYPE} -> minor(): int`, ([version]) => versionOf(version).numbers[1]],
  [`${TYPE} -> patch(): int`, ([version]) => versionOf(version).numbers[2]],
  [`${TYPE} -> isLessThan(${TYPE}): bool`, ([one, other]) => compare(one, other) < 0],
  [`${TYPE} -> isGreaterThan(${TYPE}): bool`, ([one, other]) => compare(one, other) > 0],
  [`${TYPE} -> compareTo(${TYPE}): int`, ([one, other]) => BigInt(compare(one, other))],
];
