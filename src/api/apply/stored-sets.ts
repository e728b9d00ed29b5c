/**
 * Reads stored objects without parsing their field sets, which are a third of the text. Most sets are shared with other
 * objects and found by their text (shared-set.ts).
 */
import { isJsonObject, type JsonObject } from "../json/json-object.ts";
import { setOf } from "./fields/shared-set.ts";

/**
 * Keys around a set in an entry. Quotes inside strings are escaped, so a match is always a key. A set has no member that is
 * a string, so `AFTER` cannot match inside of one.
 */
const BEFORE = '"fieldsV1":{';
const AFTER = '},"manager":"';

/** The parsed text, with shared field sets. Throws the errors of `parse`. */
export function parseStored(text: string, parse: (text: string) => unknown): unknown {
  const { rest, sets } = cutOut(text);
  if (sets.length === 0) return parse(text);
  try {
    const value = parse(rest);
    if (isJsonObject(value) && putBack(value, sets)) return value;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
  }
  // Another part of the object looks like an entry, or the text is not JSON.
  return parse(text);
}

interface Cut {
  /** The text with a number in place of each set. */
  readonly rest: string;
  readonly sets: readonly string[];
}

function cutOut(text: string): Cut {
  const sets: string[] = [];
  let rest = "";
  let from = 0;
  for (let at = text.indexOf(BEFORE); at >= 0; at = text.indexOf(BEFORE, from)) {
    const start = at + BEFORE.length - 1;
    const end = text.indexOf(AFTER, start) + 1;
    if (end === 0) break;
    rest += `${text.slice(from, start)}${sets.length}`;
    sets.push(text.slice(start, end));
    from = end;
  }
  return { rest: rest + text.slice(from), sets };
}

/** Puts the sets into the object's entries; false unless each set found its entry. */
function putBack({ metadata }: JsonObject, sets: readonly string[]): boolean {
  const entries = isJsonObject(metadata) ? metadata.managedFields : undefined;
  if (!Array.isArray(entries)) return false;
  let count = 0;
  for (const entry of entries as { fieldsV1?: unknown }[]) {
    const set = typeof entry.fieldsV1 === "number" ? sets[entry.fieldsV1] : undefined;
    if (set === undefined) continue;
    entry.fieldsV1 = setOf(set);
    count++;
  }
  return count === sets.length;
}
