/**
 * Fields in which two states of an object differ, for people: `spec.containers[web].image`. List items are told apart
 * by their name, type or key, else by their index. Bookkeeping of the server is left out.
 */
import type { ApiObject } from "../api-object.ts";
import { isJsonObject, type JsonObject } from "../json/json-object.ts";
import { jsonEqual } from "../patch/json-equal.ts";

export interface FieldChange {
  readonly path: string;
  /** Undefined when the field was absent. */
  readonly before?: unknown;
  /** Undefined when the field is absent now. */
  readonly after?: unknown;
}

/** Metadata that changes with every write. */
const BOOKKEEPING = new Set(["resourceVersion", "managedFields", "generation", "uid", "creationTimestamp"]);
/** A copy of the whole object, secret values included. */
const LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration";
/** Longer names are cut. */
const NAME_LENGTH_MAX = 256;
/** Fields below a longer path are shown as one. */
const PATH_LENGTH_MAX = 512;
/** Members that identify an item of a list, in order of preference. */
const ITEM_NAMES = ["name", "type", "key", "uid", "ip"];

/** Differences in order of the fields, `limit` at most. A missing state has no fields. */
export function fieldChanges(
  before: ApiObject | undefined,
  after: ApiObject | undefined,
  limit: number,
): readonly FieldChange[] {
  const found: FieldChange[] = [];
  const [left, right] = [shownFields(before), shownFields(after)];
  for (const name of new Set([...Object.keys(left), ...Object.keys(right)]))
    collect({ path: name.slice(0, NAME_LENGTH_MAX), before: left[name], after: right[name] }, found, limit);
  return found.map(withoutAbsent);
}

/** The fields without those that name the object, which never change. */
function shownFields(object: ApiObject | undefined): JsonObject {
  if (object === undefined) return {};
  const { apiVersion: _version, kind: _kind, metadata, ...fields } = object as ApiObject & JsonObject;
  const kept = Object.entries(metadata).filter(([name]) => !BOOKKEEPING.has(name));
  return { metadata: Object.fromEntries(kept), ...fields };
}

function collect(place: FieldChange, found: FieldChange[], limit: number): void {
  const { path, before, after } = place;
  if (found.length >= limit || jsonEqual(before, after)) return;
  const [left, right] = [membersOf(before), membersOf(after)];
  if (left === undefined || right === undefined || path.length > PATH_LENGTH_MAX) {
    found.push(place);
    return;
  }
  for (const name of new Set([...left.keys(), ...right.keys()])) {
    if (name === LAST_APPLIED && path === "metadata.annotations") continue;
    const below = pathBelow(path, name, Array.isArray(before) || Array.isArray(after) ? "item" : "member");
    collect({ path: below, before: left.get(name), after: right.get(name) }, found, limit);
  }
}

function pathBelow(path: string, name: string, type: "item" | "member"): string {
  const shown = name.length > NAME_LENGTH_MAX ? `${name.slice(0, NAME_LENGTH_MAX)}…` : name;
  return type === "item" || /[^\w-]/.test(shown) ? `${path}[${shown}]` : `${path}.${shown}`;
}

/** Members of an object, or items of a list by their names. Undefined for a plain value. */
function membersOf(value: unknown): ReadonlyMap<string, unknown> | undefined {
  if (isJsonObject(value)) return new Map(Object.entries(value));
  if (!Array.isArray(value)) return undefined;
  const naming = ITEM_NAMES.find((name) => isNamedBy(value, name));
  return new Map(
    value.map((item: unknown, index) => [
      naming === undefined ? String(index) : String((item as JsonObject)[naming]),
      item,
    ]),
  );
}

/** Whether each item has a text of its own in this member. */
function isNamedBy(items: readonly unknown[], name: string): boolean {
  const names = items.map((item) => (isJsonObject(item) ? item[name] : undefined));
  return names.every((each) => typeof each === "string") && new Set(names).size === names.length;
}

function withoutAbsent({ path, before, after }: FieldChange): FieldChange {
  return { path, ...(before !== undefined && { before }), ...(after !== undefined && { after }) };
}
