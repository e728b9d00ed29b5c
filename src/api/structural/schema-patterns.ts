/** The regular expressions of the schemas of one kind: how large they are together. */
import { patternSize } from "../formats/pattern-size.ts";

/** Instructions of all programs; some hundred are ordinary, and this many take half a second to be compiled. */
const TOTAL_MAX = 250_000;

/** Whether to compile them would take too long. Equal ones count once. */
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

/** Every text under the name `pattern`: also of defaults and examples, which have none. */
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
