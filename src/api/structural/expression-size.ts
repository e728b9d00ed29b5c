/** Largest and smallest size of a schema's values in a request, as upstream computes them to estimate costs. */
import type { Structural } from "./structural.ts";

/** Upstream's limit of a request. */
const REQUEST_BYTES = 3 * 1024 * 1024;
/** Size of a request that is one string, without its quotes. */
export const TEXT_MAX = REQUEST_BYTES - 2;
/** Most bytes of a character in UTF-8: `maxLength` counts characters. */
const CHARACTER_BYTES = 4;

interface Sizes {
  readonly min: number;
  readonly max: number;
}

/** Sizes, as JSON, of strings whose format bounds their length. */
const FORMATS: ReadonlyMap<string, Sizes> = new Map([
  ["duration", { min: 3, max: 32 }],
  ["date", { min: 12, max: 12 }],
  ["date-time", { min: 21, max: 32 }],
]);
const MIN_SIZES: ReadonlyMap<string, number> = new Map([
  ["string", 2],
  ["boolean", 4],
  ["integer", 1],
  ["number", 1],
  ["array", 2],
  ["object", 2],
]);

/** Smallest JSON size of a value, not counting the fields of an object. */
export function minScalarBytes({ isIntOrString, types: [type = ""], rules }: Structural): number {
  if (isIntOrString) return 1;
  const format = type === "string" ? FORMATS.get(rules.format) : undefined;
  return format?.min ?? MIN_SIZES.get(type) ?? 1;
}

/** Most values of a minimum size that fit into a request. */
export function cardinalityOf(minBytes: number): number {
  return Math.floor(REQUEST_BYTES / (minBytes + 1));
}

/** Most items of a list, given the smallest size of an item. */
export function maxItemsOf({ rules }: Structural, itemBytes: number): number {
  return notNegative(rules.maxItems) ?? Math.floor(TEXT_MAX / (itemBytes + 1));
}

/** Most entries of a map, given the smallest size of a value. A key takes two quotes, a colon and a comma. */
export function maxPropertiesOf({ rules }: Structural, valueBytes: number): number {
  return notNegative(rules.maxProperties) ?? Math.floor(TEXT_MAX / (valueBytes + 6));
}

/** Most bytes of a string. */
export function maxTextOf({ isIntOrString, rules }: Structural): number {
  const maxLength = notNegative(rules.maxLength);
  const format = isIntOrString ? undefined : rules.format;
  if (format === "byte") return maxLength ?? TEXT_MAX;
  const sizes = FORMATS.get(format ?? "");
  if (sizes !== undefined) return sizes.max;
  if (maxLength !== undefined) return maxLength * CHARACTER_BYTES;
  return isIntOrString || rules.enum === undefined || rules.enum.length === 0
    ? TEXT_MAX
    : longest(rules.enum);
}

function longest(values: readonly unknown[]): number {
  let bytes = 0;
  for (const value of values)
    bytes = Math.max(bytes, typeof value === "string" ? Buffer.byteLength(value) : 0);
  return bytes;
}

function notNegative(count: number | undefined): number | undefined {
  return count === undefined ? undefined : Math.max(0, count);
}
