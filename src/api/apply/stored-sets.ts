/**
 * Reads the JSON of stored objects without reading their sets of fields: these are a third of the text, and most of them are known from other objects
 * and found by their text (shared-set.ts).
 */
import { isJsonObject, type JsonObject } from "../json/json-object.ts";
import { setOf } from "./fields/shared-set.ts";

/**
 * Where a set stands in an entry. Inside of strings quotes are escaped, so that these are keys wherever they occur; and no set has a member that is a
 * text.
 */
const BEFORE = '"fieldsV1":{';
const AFTER = '},"manager":"';

/** What `parse` makes of the text. Throws what it throws. */
export function parseStored(text: string, parse: (text: string) => unknown): unknown {
  const { rest, sets } = cutOut(text);
  if (sets.length === 0) return parse(text);
  try {
    const value = parse(rest);
    if (isJsonObject(value) && putBack(value, sets)) return value;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
  }
  // Something else looks like an entry, or this is no JSON at all.
  return parse(text);
}

interface Cut {
  /** The text with a number in the place of each set. */
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

/** Whether all of them have their places among the object's entries. */
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
