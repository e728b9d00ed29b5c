/** Bounds the total size of the regular expressions in the schemas of one kind. */
import { patternSize } from "../formats/pattern-size.ts";

/** Upper bound of the instructions of all patterns, which take half a second to compile. A few hundred are usual. */
const TOTAL_MAX = 250_000;

/** True when compiling the patterns would take too long. Equal patterns count once. */
export function havePatternsInExcess(schemas: readonly unknown[]): boolean {
  const known = new Set<string>();
  let size = 0;
  for (const pattern of patternsIn(schemas)) {
    if (known.has(pattern)) continue;
    known.add(pattern);
    size += patternSize(pattern, TOTAL_MAX);
    if (size > TOTAL_MAX) return true;
  }
  return false;
}

/** Every text under the name `pattern`, including those in defaults and examples, which are no patterns. */
function* patternsIn(values: readonly unknown[]): Generator<string> {
  const waiting: unknown[] = [...values];
  for (let value = waiting.pop(); value !== undefined || waiting.length > 0; value = waiting.pop()) {
    if (typeof value !== "object" || value === null) continue;
    for (const [name, member] of Object.entries(value)) {
      if (name === "pattern" && typeof member === "string") yield member;
      else if (typeof member === "object") waiting.push(member);
    }
  }
}
