/** Fields in which two states of an object differ, as paths for people such as `spec.replicas`. */
import type { ApiObject } from "../../api/api-object.ts";
import { isJsonObject, type JsonObject } from "../../api/json/json-object.ts";
import { jsonEqual } from "../../api/patch/json-equal.ts";

export interface ChangedField {
  readonly path: readonly string[];
  readonly before: unknown;
  readonly after: unknown;
}

/** Metadata that changes with every write. */
const BOOKKEEPING = new Set(["resourceVersion", "managedFields", "generation"]);
/** Upper bound of reported fields. */
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

/** Members of an object, or items of a list by their index. */
function membersOf(value: unknown): JsonObject | undefined {
  if (Array.isArray(value)) return Object.fromEntries(value.entries());
  return isJsonObject(value) ? value : undefined;
}

/** The other manager that owns the field by the managed fields; else the other manager that wrote last. */
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
    // List items have keys instead of indexes; ownership of some item of the list is enough.
    if (next === undefined) return /^\d+$/.test(name);
    below = next;
  }
  return true;
}
