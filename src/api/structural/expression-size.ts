/** How large values of a schema can become, and how small they can be, in a request: as upstream reckons when it estimates cost. */
import type { Structural } from "./structural.ts";

/** As upstream's limit on a request. */
const REQUEST_BYTES = 3 * 1024 * 1024;
/** A request that is one string, without the quotes. */
export const TEXT_MAX = REQUEST_BYTES - 2;
/** The bytes of a character in UTF-8, at most: `maxLength` counts characters. */
const CHARACTER_BYTES = 4;

interface Sizes {
  readonly min: number;
  readonly max: number;
}

/** Strings whose format says how long they are, as JSON. */
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

/** The least bytes that a value takes as JSON, but for an object's fields. */
export function minScalarBytes({ isIntOrString, types: [type = ""], rules }: Structural): number {
  if (isIntOrString) return 1;
  const format = type === "string" ? FORMATS.get(rules.format) : undefined;
  return format?.min ?? MIN_SIZES.get(type) ?? 1;
}

/** As many values as a request can hold, each of so many bytes at least. */
export function cardinalityOf(minBytes: number): number {
  return Math.floor(REQUEST_BYTES / (minBytes + 1));
}

/** Items of a list, by the least bytes of one. */
export function maxItemsOf({ rules }: Structural, itemBytes: number): number {
  return notNegative(rules.maxItems) ?? Math.floor(TEXT_MAX / (itemBytes + 1));
}

/** Entries of a map, by the least bytes of a value. A key takes its quotes, a colon and a comma. */
export function maxPropertiesOf({ rules }: Structural, valueBytes: number): number {
  return notNegative(rules.maxProperties) ?? Math.floor(TEXT_MAX / (valueBytes + 6));
}

/** The bytes of a string. */
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
