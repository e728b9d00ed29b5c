/** Parses versions as semver 2.0 defines them. */

export interface SemanticVersion {
  readonly numbers: readonly [major: bigint, minor: bigint, patch: bigint];
  readonly pre: readonly string[];
}

const NUMBER = "(0|[1-9]\\d*)";
const PART = "(?:0|[1-9]\\d*|\\d*[A-Za-z-][0-9A-Za-z-]*)";
const SHAPE = new RegExp(
  `^${NUMBER}\\.${NUMBER}\\.${NUMBER}(?:-(${PART}(?:\\.${PART})*))?(?:\\+[0-9A-Za-z-]+(?:\\.[0-9A-Za-z-]+)*)?$`,
);
/** Bounds the cost of the pattern; longer texts are not versions. */
const TEXT_MAX = 1000;
const NUMBER_MAX = 2n ** 64n;

/** Undefined if the text is not a semver 2.0 version. */
export function findSemanticVersion(text: string): SemanticVersion | undefined {
  const parts = text.length > TEXT_MAX ? null : SHAPE.exec(text);
  if (parts === null) return undefined;
  const [, major = "", minor = "", patch = "", pre = ""] = parts;
  const numbers = [BigInt(major), BigInt(minor), BigInt(patch)] as const;
  if (numbers.some((number) => number >= NUMBER_MAX)) return undefined;
  return { numbers, pre: pre === "" ? [] : pre.split(".") };
}
