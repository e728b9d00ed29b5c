/**
 * Upper bounds on the cost of one call and on the size of its result, equal to those of cel-go and Kubernetes' libraries.
 */
import {
  CHECK_COST,
  FORMAT_PATTERN_SIZE,
  LIST_COST,
  PATTERN_FACTOR,
  REQUIREMENT_COST,
  REQUIREMENTS_FACTOR,
  TEXT_FACTOR,
} from "./cost-unit.ts";
import type { Overload } from "./overload.ts";
import {
  addSizes,
  fixedSize,
  multiplySizes,
  type SizeRange,
  textCost,
  unionOfSizes,
  UNKNOWN_SIZE,
} from "./size-range.ts";
import type { CelType } from "./type.ts";
import {
  addSaturating,
  divideUp,
  multiplyByFactor,
  multiplySaturating,
  UINT64_MAX,
  wrapUint64,
} from "./uint64.ts";
import type { CelValue } from "./value.ts";

/** An argument, or the value before the dot. */
export interface EstimatedValue {
  readonly type: CelType;
  readonly size: SizeRange;
  /** Value of a literal; otherwise undefined. */
  readonly literal: CelValue | undefined;
  /** Type and size of the items; `undefined` for a type without parameters. */
  items(): { readonly type: CelType; readonly size: SizeRange } | undefined;
}

export interface EstimatedCall {
  readonly overload: Overload;
  readonly target: EstimatedValue | undefined;
  readonly args: readonly EstimatedValue[];
}

export interface CallEstimate {
  /** Cost without that of the arguments. */
  readonly cost: bigint;
  /** `undefined` where the function has no bound on its result. */
  readonly size: SizeRange | undefined;
}

type Estimator = (call: EstimatedCall) => CallEstimate | undefined;

const CALL: CallEstimate = { cost: 1n, size: undefined };
/** Longest name of a format. */
const FORMAT_NAME_SIZE = 64n;
/** An address has 4 or 16 bytes. */
const ADDRESS_SIZE: SizeRange = { min: 4n, max: 16n };

export function estimateCall(call: EstimatedCall): CallEstimate {
  const { name } = call.overload;
  return ESTIMATORS.get(name)?.(call) ?? CALL;
}

function costing(cost: bigint, size?: SizeRange): CallEstimate {
  return { cost, size };
}

function first(call: EstimatedCall): EstimatedValue | undefined {
  return call.target ?? call.args[0];
}

function typeName({ overload }: EstimatedCall, at = 0): string {
  return overload.parameters[at]?.name ?? "";
}

function isText(type: string): boolean {
  return type === "string" || type === "bytes";
}

function sizeAt({ args }: EstimatedCall, at: number): SizeRange {
  return args[at]?.size ?? UNKNOWN_SIZE;
}

function literalCount(value: EstimatedValue | undefined, otherwise: bigint): bigint {
  const literal = value?.literal;
  return typeof literal === "bigint" && literal >= 0n ? literal : otherwise;
}

/** One traversal of a string, with a result of the same size. */
const traversal: Estimator = (call) => {
  const size = first(call)?.size ?? UNKNOWN_SIZE;
  return costing(textCost(size), size);
};

const parsing: Estimator = (call) => costing(textCost(first(call)?.size ?? UNKNOWN_SIZE));

const twoTraversals: Estimator = (call) =>
  costing(multiplyByFactor((first(call)?.size ?? UNKNOWN_SIZE).max, 2 * TEXT_FACTOR));

/** One visit to each item, plus a traversal of each text. */
const visit: Estimator = ({ target }) => {
  if (target === undefined) return undefined;
  const items = target.items();
  if (items === undefined) return costing(textCost(target.size));
  const each = isText(items.type.name) ? addSaturating(1n, textCost(items.size)) : 1n;
  return costing(multiplySaturating(target.size.max, each));
};

const replace: Estimator = (call) => {
  const { target, args } = call;
  if (target === undefined || args.length < 2) return undefined;
  const [wanted, given] = [sizeAt(call, 0), sizeAt(call, 1)];
  const longest = replaced(target.size.max, {
    isEmpty: wanted.min === 0n,
    isKept: given.max <= wanted.min,
    wanted: wanted.min,
  });
  const shortest = replaced(target.size.min, {
    isEmpty: wanted.max === 0n,
    isKept: wanted.max <= given.min,
    wanted: wanted.max,
  });
  const size = addSizes(multiplySizes({ min: shortest.count, max: longest.count }, given), {
    min: shortest.kept,
    max: longest.kept,
  });
  return costing(multiplyByFactor(target.size.max, 2 * TEXT_FACTOR), size);
};

/** Bounds on the replacements in a text of the size, and on the part of the text that is kept. */
function replaced(
  size: bigint,
  {
    isEmpty,
    isKept,
    wanted,
  }: { readonly isEmpty: boolean; readonly isKept: boolean; readonly wanted: bigint },
): { readonly count: bigint; readonly kept: bigint } {
  // The empty text is found around every character.
  if (isEmpty) return { count: addSaturating(size, 1n), kept: size };
  return isKept ? { count: 0n, kept: size } : { count: divideUp(size, wanted), kept: 0n };
}

const split: Estimator = ({ target, args }) => {
  if (target === undefined) return undefined;
  const limit = args[1]?.literal;
  const max = typeof limit === "bigint" ? wrapUint64(limit) : target.size.max;
  return costing(multiplyByFactor(target.size.max, 2 * TEXT_FACTOR), { min: 0n, max });
};

const join: Estimator = (call) => {
  const { target, args } = call;
  if (target === undefined) return undefined;
  const list = target.size;
  const items = target.items();
  const texts = items === undefined ? fixedSize(0) : multiplySizes(list, items.size);
  const gaps = { min: oneLess(list.min), max: oneLess(list.max) };
  const size = args.length > 0 ? addSizes(texts, multiplySizes(sizeAt(call, 0), gaps)) : texts;
  return costing(textCost(size), size);
};

function oneLess(count: bigint): bigint {
  return count > 0n ? count - 1n : 0n;
}

function matchCost(text: SizeRange, pattern: SizeRange): bigint {
  // One more, because a pattern costs something even on an empty text.
  const turns = textCost(addSizes(text, fixedSize(1)));
  return multiplySaturating(turns, multiplyByFactor(pattern.max, PATTERN_FACTOR));
}

const find: Estimator = (call) => {
  const { target, args } = call;
  if (target === undefined || args.length === 0) return undefined;
  return costing(matchCost(target.size, sizeAt(call, 0)), { min: 0n, max: target.size.max });
};

/** As upstream, a call without a value before the dot costs one. */
const matches: Estimator = (call) =>
  call.target === undefined ? undefined : costing(matchCost(call.target.size, sizeAt(call, 0)));

const contains: Estimator = (call) => {
  const { target } = call;
  if (target === undefined) return undefined;
  return costing(multiplySaturating(textCost(target.size), textCost(sizeAt(call, 0))));
};

const affix: Estimator = (call) => costing(textCost(sizeAt(call, 0)));

const selector: Estimator = (call) => {
  if (call.args.length !== 1) return undefined;
  const size = sizeAt(call, 0);
  const requirements = multiplyByFactor(size.max, REQUIREMENTS_FACTOR);
  const parsed = addSaturating(BigInt(LIST_COST), textCost(size));
  return costing(addSaturating(parsed, multiplyByFactor(requirements, REQUIREMENT_COST)));
};

/** Cost of comparing two addresses, including the parse of a text argument. */
function addressComparison(call: EstimatedCall): bigint {
  const compared = textCost(addSizes(ADDRESS_SIZE, ADDRESS_SIZE));
  return typeName(call, 1) === "string" ? addSaturating(compared, textCost(sizeAt(call, 0))) : compared;
}

const containsAddress: Estimator = (call) => costing(addressComparison(call));

/** The block is masked first. */
const containsBlock: Estimator = (call) =>
  costing(addSaturating(addressComparison(call), textCost(ADDRESS_SIZE) + 1n));

const validate: Estimator = (call) =>
  costing(multiplyByFactor(textCost(sizeAt(call, 0)), FORMAT_PATTERN_SIZE * PATTERN_FACTOR));

/** Types whose values are compared as a whole cost one. */
const equality: Estimator = (call) => {
  const [left, right] = call.args;
  const isOne = left?.type.name === right?.type.name;
  const name = isOne ? (left?.type.name ?? "") : "";
  if (FLAT.has(name)) return CALL;
  if (name === "kubernetes.NamedFormat") return costing(textCost(fixedSize(FORMAT_NAME_SIZE)));
  // As upstream, the size of the right side counts for both sides.
  if (name === "kubernetes.URL") return costing(textCost(sizedOr(right, fixedSize(1))));
  return comparison(call);
};

const FLAT: ReadonlySet<string> = new Set([
  "net.IP",
  "net.CIDR",
  "kubernetes.Quantity",
  "kubernetes.Semver",
  "kubernetes.authorization.Authorizer",
  "kubernetes.authorization.PathCheck",
  "kubernetes.authorization.GroupCheck",
  "kubernetes.authorization.ResourceCheck",
  "kubernetes.authorization.Decision",
]);

function sizedOr(value: EstimatedValue | undefined, otherwise: SizeRange): SizeRange {
  return value === undefined || value.size === UNKNOWN_SIZE ? otherwise : value.size;
}

const comparison: Estimator = (call) => {
  const [left, right] = [sizeAt(call, 0).max, sizeAt(call, 1).max];
  return costing(multiplyByFactor(left < right ? left : right, TEXT_FACTOR));
};

const order: Estimator = (call) => (isText(typeName(call)) ? comparison(call) : undefined);

const membership: Estimator = (call) =>
  typeName(call, 1) === "list" ? costing(multiplyByFactor(sizeAt(call, 1).max, 1)) : undefined;

const concatenation: Estimator = (call) => {
  const type = typeName(call);
  if (type !== "list" && !isText(type)) return undefined;
  const size = addSizes(sizeAt(call, 0), sizeAt(call, 1));
  return costing(type === "list" ? 1n : textCost(size), size);
};

const toBytes: Estimator = (call) => {
  if (typeName(call) !== "string") return undefined;
  const size = sizeAt(call, 0);
  // A character takes at most four bytes.
  return costing(textCost(size), { min: size.min, max: wrapUint64(size.max * 4n) });
};

const toText: Estimator = (call) => {
  if (typeName(call) !== "bytes") return undefined;
  const size = sizeAt(call, 0);
  return costing(textCost(size), { min: size.min / 4n, max: size.max });
};

/** Quotes add two characters, and each character may need an escape. */
const quote: Estimator = (call) => {
  const size = sizeAt(call, 0);
  return costing(textCost(size), { min: size.min + 2n, max: wrapUint64(size.max * 2n + 2n) });
};

/** Size of either branch, which are the second and third argument. The caller adds the cost of the branches. */
const conditional: Estimator = (call) => costing(0n, unionOfSizes(sizeAt(call, 1), sizeAt(call, 2)));

const sets =
  (factor: number): Estimator =>
  (call) => {
    const pairs = multiplySaturating(sizeAt(call, 0).max, sizeAt(call, 1).max);
    return costing(addSaturating(multiplyByFactor(pairs, factor), 1n));
  };

/** Cost of a call that makes a list. */
function listing(factor: number, size: SizeRange): CallEstimate {
  return costing(addSaturating(multiplyByFactor(size.max, factor), BigInt(LIST_COST + 1)), size);
}

const slice: Estimator = ({ target, args }) => {
  if (target === undefined) return undefined;
  const [start, end] = [literalCount(args[0], 0n), literalCount(args[1], target.size.max)];
  return listing(1, fixedSize(wrapUint64(end - start)));
};

const range: Estimator = ({ args }) => listing(1, fixedSize(literalCount(args[0], UINT64_MAX)));

const reverse: Estimator = ({ target }) => (target === undefined ? undefined : listing(1, target.size));

const flatten: Estimator = ({ target, args }) => {
  if (target === undefined) return undefined;
  const depth = args.length === 0 ? 1n : literalCount(args[0], UINT64_MAX);
  return listing(Number(depth), target.size);
};

const distinct: Estimator = ({ target }) =>
  target === undefined ? undefined : listing(2, multiplySizes(target.size, target.size));

const sort: Estimator = ({ target, overload }) => {
  const [list] = overload.parameters;
  return target === undefined ? undefined : estimateSort(target.size, list?.parameters[0]);
};

/** Cost of a sort, which counts every pair of items. `key` is the type that is compared. */
export function estimateSort(size: SizeRange, key: CelType | undefined): CallEstimate {
  return listing(isText(key?.name ?? "") ? 2 + TEXT_FACTOR : 2, multiplySizes(size, size));
}

function each(names: readonly string[], estimator: Estimator): readonly (readonly [string, Estimator])[] {
  return names.map((name) => [name, estimator] as const);
}

/** Estimators by function name; all other functions cost one. */
const ESTIMATORS: ReadonlyMap<string, Estimator> = new Map<string, Estimator>([
  ["check", () => costing(BigInt(CHECK_COST))],
  ...each(["fieldSelector", "labelSelector"], selector),
  ...each(["isSorted", "sum", "max", "min", "indexOf", "lastIndexOf"], visit),
  ...each(["url", "jsonpatch.escapeKey", "lowerAscii", "upperAscii", "substring", "trim"], traversal),
  ["replace", replace],
  ["split", split],
  ["join", join],
  ...each(["find", "findAll"], find),
  ...each(["cidr", "isIP", "isCIDR", "quantity", "isQuantity", "semver", "isSemver"], parsing),
  ["ip", (call) => (call.target === undefined ? parsing(call) : CALL)],
  ["ip.isCanonical", twoTraversals],
  ["containsIP", containsAddress],
  ["containsCIDR", containsBlock],
  ["validate", validate],
  ["_==_", equality],
  ["_!=_", comparison],
  ...each(["_<_", "_<=_", "_>_", "_>=_"], order),
  ["@in", membership],
  ["_+_", concatenation],
  ["_?_:_", conditional],
  ["format", parsing],
  ["bytes", toBytes],
  ["string", toText],
  ["strings.quote", quote],
  ...each(["startsWith", "endsWith"], affix),
  ["matches", matches],
  ["contains", contains],
  ...each(["sets.contains", "sets.intersects"], sets(1)),
  ["sets.equivalent", sets(2)],
  ["slice", slice],
  ["lists.range", range],
  ["reverse", reverse],
  ["flatten", flatten],
  ["distinct", distinct],
  ["sort", sort],
]);
