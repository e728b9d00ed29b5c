/** Cost of an evaluated call, as cel-go's tracker and Kubernetes' libraries count it. Estimates are in call-estimate.ts. */
import {
  CHECK_COST,
  FORMAT_PATTERN_SIZE,
  LIST_COST,
  PATTERN_FACTOR,
  REQUIREMENT_COST,
  REQUIREMENTS_FACTOR,
  TEXT_FACTOR,
} from "./cost-unit.ts";
import { Bytes, CelList, CelMap, CelRecord, type CelValue, Opaque } from "./value.ts";

export type CallCost = (args: readonly CelValue[], result: CelValue) => number;

/** The parts of a function that decide its cost. */
interface CostedFunction {
  readonly name: string;
  readonly isMember: boolean;
  readonly parameters: readonly { readonly name: string }[];
}

/** Bytes of an address. A comparison with a block reads at most twice as many. */
const ADDRESS_SIZE = 16;

export function callCost(called: CostedFunction): CallCost {
  return COSTS.get(called.name)?.(called) ?? one;
}

const one: CallCost = () => 1;

/** Size of a value. Texts count UTF-16 units here, and characters upstream. */
function sizeOf(value: CelValue | undefined): number {
  if (typeof value === "string") return value.length;
  if (value instanceof CelList || value instanceof CelMap) return value.size;
  if (value instanceof Bytes) return value.data.length;
  return value instanceof CelRecord ? [...value.fields()].length : 1;
}

function textCost(size: number): number {
  return Math.ceil(size * TEXT_FACTOR);
}

function isText(value: CelValue | undefined): value is string | Bytes {
  return typeof value === "string" || value instanceof Bytes;
}

function ofText(at = 0): CallCost {
  return (args) => textCost(sizeOf(args[at]));
}

const twiceOfText: CallCost = ([text]) => Math.ceil(sizeOf(text) * 2 * TEXT_FACTOR);

const join: CallCost = (_, result) => Math.ceil(sizeOf(result) * 2 * TEXT_FACTOR);

/** Cost of a visit to each item; texts cost a tenth of their length. */
const visit: CallCost = ([list]) => {
  if (!(list instanceof CelList)) return Math.floor(sizeOf(list) * TEXT_FACTOR);
  let cost = 0;
  for (let at = 0; at < list.size; at++) {
    const item = list.at(at);
    cost += isText(item) ? Math.floor(sizeOf(item) * TEXT_FACTOR) : sizeOf(item);
  }
  return cost;
};

const match: CallCost = ([text, pattern]) =>
  textCost(sizeOf(text) + 1) * Math.ceil(sizeOf(pattern) * PATTERN_FACTOR);

const contains: CallCost = ([text, part]) => textCost(sizeOf(text)) * textCost(sizeOf(part));

/** Lengths of the regular expressions of the named formats, as upstream states them. Others count as the longest. */
const PATTERN_SIZES: Readonly<Record<string, number>> = {
  dns1123Label: 30,
  dns1123Subdomain: 60,
  dns1035Label: 30,
  qualifiedName: 60,
  dns1123LabelPrefix: 30,
  dns1123SubdomainPrefix: 60,
  dns1035LabelPrefix: 30,
  labelValue: 40,
};

const validate: CallCost = ([format, text]) => {
  const name = format instanceof Opaque ? format.identity : "";
  const size = PATTERN_SIZES[name] ?? FORMAT_PATTERN_SIZE;
  return textCost(sizeOf(text) + 1) * Math.ceil(size * PATTERN_FACTOR);
};

const selector: CallCost = ([, text]) => {
  const size = sizeOf(text);
  return LIST_COST + textCost(size) + Math.ceil(size * REQUIREMENTS_FACTOR) * REQUIREMENT_COST;
};

/** Cost of comparing addresses. A text argument is parsed first. */
function addressCost(args: readonly CelValue[]): number {
  return textCost(2 * ADDRESS_SIZE) + (isText(args[1]) ? textCost(sizeOf(args[1])) : 0);
}

/** Cost of an equality: the size of the shorter side. The cost of comparing items is not counted. */
const comparison: CallCost = ([left, right]) => textCost(Math.min(sizeOf(left), sizeOf(right)));

const equality: CallCost = (args, result) => (args[0] instanceof Opaque ? 1 : comparison(args, result));

const concatenation: CallCost = ([left, right]) =>
  isText(left) ? textCost(sizeOf(left) + sizeOf(right)) : 1;

const membership: CallCost = ([, container]) => (container instanceof CelList ? container.size : 1);

const sets = (factor: number): CallCost => {
  return ([left, right]) => 1 + sizeOf(left) * sizeOf(right) * factor;
};

/** Cost of a call that makes a list. */
function listing(factor: number, size: number): number {
  return Math.floor(factor * size) + LIST_COST + 1;
}

const made: CallCost = (_, result) => listing(1, sizeOf(result));

const flatten: CallCost = ([list, depth = 1n]) => listing(Math.max(0, Number(depth)), sizeOf(list));

/** Cost of a sort, which counts every pair of items. */
export function sortCost(list: CelList): number {
  const factor = list.size > 0 && isText(list.at(0)) ? 2 + TEXT_FACTOR : 2;
  return listing(factor, list.size ** 2);
}

const sort: CallCost = ([list]) => (list instanceof CelList ? sortCost(list) : 1);

type Chooser = (called: CostedFunction) => CallCost;

function each(names: readonly string[], cost: CallCost): readonly (readonly [string, Chooser])[] {
  return names.map((name) => [name, () => cost] as const);
}

/** Costs of only the function with this name and this first parameter type. */
function only(name: string, type: string, cost: CallCost): readonly [string, Chooser] {
  return [name, ({ parameters: [first] }) => (first?.name === type ? cost : one)];
}

function member(name: string, cost: CallCost, other: CallCost): readonly [string, Chooser] {
  return [name, ({ isMember }) => (isMember ? cost : other)];
}

/** Costs by function name; all other functions cost one. */
const COSTS: ReadonlyMap<string, Chooser> = new Map<string, Chooser>([
  ...each(["check"], () => CHECK_COST),
  ...each(["fieldSelector", "labelSelector"], selector),
  ...each(["isSorted", "sum", "max", "min", "indexOf", "lastIndexOf"], visit),
  ...each(["url", "jsonpatch.escapeKey", "lowerAscii", "upperAscii", "substring", "trim"], ofText()),
  ...each(["replace", "split", "ip.isCanonical"], twiceOfText),
  ...each(["join"], join),
  ...each(["find", "findAll"], match),
  ...each(["cidr", "isIP", "isCIDR", "quantity", "isQuantity", "semver", "isSemver"], ofText()),
  member("ip", one, ofText()),
  ...each(["containsIP"], addressCost),
  ...each(["containsCIDR"], (args) => addressCost(args) + textCost(ADDRESS_SIZE) + 1),
  ...each(["validate"], validate),
  ...each(["_==_"], equality),
  ...each(["_!=_", "_<_", "_<=_", "_>_", "_>=_"], comparison),
  ...each(["@in"], membership),
  ...each(["_+_"], concatenation),
  ...each(["format", "strings.quote"], ofText()),
  only("bytes", "string", ofText()),
  only("string", "bytes", ofText()),
  ...each(["startsWith", "endsWith"], ofText(1)),
  member("matches", match, one),
  ...each(["contains"], contains),
  ...each(["sets.contains", "sets.intersects"], sets(1)),
  ...each(["sets.equivalent"], sets(2)),
  ...each(["slice", "lists.range", "reverse"], made),
  ...each(["flatten"], flatten),
  ...each(["distinct", "sort"], sort),
]);
