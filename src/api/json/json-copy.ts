/** Deep copy with the effects of a JSON round trip: members that are undefined are dropped, `toJSON` is called. */
import { setOwn } from "./json-object.ts";

/** Deeper than any body may be; only a cycle gets here. */
const DEPTH_MAX = 1000;

/**
 * Throws a TypeError for functions, symbols and cycles, which JSON cannot express. Bigints stay: they are integers
 * beyond 2^53.
 */
export function copyAsJson(value: unknown, depth = 0): unknown {
  if (typeof value === "object" && value !== null) return copyMembers(value, depth);
  if (typeof value === "number") return Number.isFinite(value) ? value : null;
  if (typeof value === "function" || typeof value === "symbol") {
    throw new TypeError(`a ${typeof value} cannot be written as JSON`);
  }
  return value;
}

function copyMembers(value: object, depth: number): unknown {
  if (depth > DEPTH_MAX) throw new TypeError("the value contains a cycle or is nested too deeply");
  if (Array.isArray(value)) return value.map((item: unknown) => copyAsJson(item, depth + 1) ?? null);
  if ("toJSON" in value && typeof value.toJSON === "function") {
    return copyAsJson((value.toJSON as () => unknown)(), depth + 1);
  }
  const copy: Record<string, unknown> = {};
  for (const key of Object.keys(value)) {
    const member = (value as Readonly<Record<string, unknown>>)[key];
    if (member !== undefined) setOwn(copy, key, copyAsJson(member, depth + 1));
  }
  return copy;
}
