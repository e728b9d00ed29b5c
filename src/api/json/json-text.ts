/** Writes values as JSON text. Integers beyond 2^53 are bigint. */

import { assert } from "../../base/assert.ts";

/** Deeper than any value that `parseJson` returns; only a cycle gets here. */
const DEPTH_MAX = 1000;

/** Texts without characters to escape. */
const PLAIN_TEXT = /^[\w .:/-]*$/;

/** Like JSON.stringify, but writes bigints exactly. As fast without bigints, and faster for most strings. */
export function stringifyJson(value: unknown): string {
  if (typeof value === "string" && PLAIN_TEXT.test(value)) return `"${value}"`;
  try {
    return JSON.stringify(value);
  } catch (error) {
    // JSON.stringify throws a TypeError for a bigint and for a cycle. The depth limit below detects the cycle.
    if (!(error instanceof TypeError)) throw error;
    return exactText(value, 0);
  }
}

const ESCAPED_BY_GO = /[<>&\u2028\u2029]/g;

/**
 * JSON as Go's encoder writes it. Go clients compare raw JSON bytewise with their own encoding. A controller that finds
 * `&&` instead of `\\u0026\\u0026` in a ControllerRevision sees another template, and creates revisions without end.
 * Undefined is written as null, as Go's nil.
 */
export function stringifyAsGo(value: unknown): string {
  return stringifyJson(value ?? null).replace(
    ESCAPED_BY_GO,
    (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

function exactText(value: unknown, depth: number): string {
  assert(depth <= DEPTH_MAX, `the value has no cycle and is at most ${DEPTH_MAX} levels deep`);
  if (typeof value === "bigint") return value.toString();
  if (typeof value !== "object" || value === null) return JSON.stringify(value) ?? "null";
  if (Array.isArray(value)) return `[${value.map((item) => exactText(item, depth + 1)).join(",")}]`;
  const members = Object.entries(value)
    .filter(([, member]) => member !== undefined)
    .map(([key, member]) => `${JSON.stringify(key)}:${exactText(member, depth + 1)}`);
  return `{${members.join(",")}}`;
}
