/** How large values of a schema can become, and how small they can be, in a request: as upstream reckons when it estimates cost. */
import type { Structural } from "./structural.ts";

/** As upstream's limit on a request. */
const REQUEST_BYTES = 3 * 1024 * 1024;
const MIN_SIZES: ReadonlyMap<string, number> = new Map([
  ["string", 2],
  ["boolean", 4],
  ["integer", 1],
  ["number", 1],
  ["array", 2],
  ["object", 2],
]);
/** Texts whose format says how long they are. */
const FORMAT_SIZES: ReadonlyMap<string, number> = new Map([
  ["duration", 32],
  ["date", 12],
  ["date-time", 32],
]);

/** The least bytes that a value takes. Fields that must be there count with their names. */
function minBytesOf(schema: Structural): number {
  if (schema.isIntOrString) return 1;
  const [type = ""] = schema.types;
  let bytes = MIN_SIZES.get(type) ?? 1;
  for (const name of schema.rules.required) {
    const property = schema.properties.get(name);
    if (property !== undefined && property.fallback === undefined)
      bytes += name.length + 4 + minBytesOf(property);
  }
  return bytes;
}

/** As many of them as a request can hold. */
export function cardinalityOf(schema: Structural): number {
  return Math.floor(REQUEST_BYTES / (minBytesOf(schema) + 1));
}

/** The length of a text, the number of items or of keys. */
export function maxSizeOf(schema: Structural): number {
  const { rules, items, additional } = schema;
  const [type = ""] = schema.types;
  if (type === "array") return rules.maxItems ?? countOf((items === undefined ? 1 : minBytesOf(items)) + 1);
  if (type !== "object") return rules.maxLength ?? maxText(schema);
  return rules.maxProperties ?? countOf((typeof additional === "object" ? minBytesOf(additional) : 1) + 6);
}

/** How many of them fit between two brackets. */
function countOf(bytes: number): number {
  return Math.floor((REQUEST_BYTES - 2) / bytes);
}

function maxText({ rules }: Structural): number {
  if (rules.enum !== undefined)
    return Math.max(...rules.enum.map((value) => (typeof value === "string" ? value.length : 1)));
  return FORMAT_SIZES.get(rules.format) ?? REQUEST_BYTES - 2;
}
