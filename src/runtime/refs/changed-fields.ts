/** Where two states of an object differ, for people: paths such as `spec.replicas`. */
import type { ApiObject } from "../../api/api-object.ts";
import { isJsonObject, type JsonObject } from "../../api/json/json-object.ts";
import { jsonEqual } from "../../api/patch/json-equal.ts";

export interface ChangedField {
  readonly path: readonly string[];
  readonly before: unknown;
  readonly after: unknown;
}

/** Change with every write, whoever makes it. */
const BOOKKEEPING = new Set(["resourceVersion", "managedFields", "generation"]);
/** Whoever changes more than this changes everything. */
const FIELDS_MAX = 16;

export function changedFields(before: ApiObject, after: ApiObject): readonly ChangedField[] {
  const found: ChangedField[] = [];
  collect({ path: [], before, after }, found);
  return found;
}

export function fieldText(path: readonly string[]): string {
  return path
    .map((name) => (/^\d+$/.test(name) ? `[${name}]` : `.${name}`))
    .join("")
    .replace(/^\./, "");
}

function collect(place: ChangedField, found: ChangedField[]): void {
  const { path, before, after } = place;
  if (found.length >= FIELDS_MAX || jsonEqual(before, after)) return;
  const left = membersOf(before);
  const right = membersOf(after);
  if (left === undefined || right === undefined || Array.isArray(before) !== Array.isArray(after)) {
    found.push(place);
    return;
  }
  for (const name of new Set([...Object.keys(left), ...Object.keys(right)])) {
    if (path.length === 1 && path[0] === "metadata" && BOOKKEEPING.has(name)) continue;
    collect({ path: [...path, name], before: left[name], after: right[name] }, found);
  }
}

/** Items of a list by their place. */
function membersOf(value: unknown): JsonObject | undefined {
  if (Array.isArray(value)) return Object.fromEntries(value.entries());
  return isJsonObject(value) ? value : undefined;
}

/** Who else owns the field, as far as the server recorded it; else who else wrote last. */
export function otherWriter(object: ApiObject, path: readonly string[], own: string): string | undefined {
  const entries = (object.metadata.managedFields ?? []).filter(({ manager }) => manager !== own);
  const owner = entries.find(({ fieldsV1 }) => isOwned(fieldsV1, path));
  const newest = entries.toSorted((a, b) => ((a.time ?? "") < (b.time ?? "") ? 1 : -1))[0];
  return (owner ?? newest)?.manager;
}

function isOwned(fields: unknown, path: readonly string[]): boolean {
  let below = fields;
  for (const name of path) {
    if (!isJsonObject(below)) return false;
    const next: unknown = below[`f:${name}`];
    // Items of lists have names of their own; who owns some of the list is good enough.
    if (next === undefined) return /^\d+$/.test(name);
    below = next;
  }
  return true;
}
