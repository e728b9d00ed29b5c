/** Compares two values of one schema and returns the changed fields as sets. */
import type { JsonObject } from "../../json/json-object.ts";
import { jsonEqual } from "../../patch/json-equal.ts";
import type { ListSchema, MapSchema, Schema, StructSchema } from "../../schema/schema.ts";
import { type FieldPattern, matching } from "./field-pattern.ts";
import {
  EMPTY,
  type FieldSet,
  type FieldSetDraft,
  intersection,
  isEmpty,
  MEMBER,
  recursiveDifference,
  sortedSet,
  union,
} from "./field-set.ts";
import {
  granularList,
  granularMap,
  indexedItems,
  isFilledList,
  isFilledMap,
  memberSchema,
  DuplicateItems,
} from "./granularity.ts";
import { fieldElement, SELF } from "./path-element.ts";
import { allFieldsOf } from "./present-fields.ts";

/** Changed fields. A field is in at most one of the sets. */
export interface Comparison {
  readonly added: FieldSet;
  readonly modified: FieldSet;
  readonly removed: FieldSet;
}

const SAME: Comparison = { added: EMPTY, modified: EMPTY, removed: EMPTY };

/** The changes from `before` to `after`; `SAME` itself when they are equal. The order in lists and maps does not count. */
export function compare(before: unknown, after: unknown, schema: Schema): Comparison {
  const changes = compareNodes(before, after, schema);
  if (changes === undefined) return SAME;
  const { added = EMPTY, modified = EMPTY, removed = EMPTY } = changes;
  return { added, modified, removed };
}

export function isSame(comparison: Comparison): boolean {
  return comparison === SAME;
}

/** The comparison without the given fields and all fields below them. */
export function exceptFields(comparison: Comparison, fields: FieldSet): Comparison {
  return filtered(comparison, (changed) => recursiveDifference(changed, fields));
}

/** The comparison with only the given fields. */
export function onlyFields(comparison: Comparison, fields: FieldSet): Comparison {
  return filtered(comparison, (changed) => intersection(changed, fields));
}

/** The comparison with only the fields that match the pattern. */
export function matchingFields(comparison: Comparison, pattern: FieldPattern): Comparison {
  return filtered(comparison, (changed) => matching(changed, pattern));
}

function filtered(comparison: Comparison, filter: (changed: FieldSet) => FieldSet): Comparison {
  if (comparison === SAME) return SAME;
  const added = filter(comparison.added);
  const modified = filter(comparison.modified);
  const removed = filter(comparison.removed);
  return isEmpty(added) && isEmpty(modified) && isEmpty(removed) ? SAME : { added, modified, removed };
}

/** Fields that got a new value: their previous owners lose them. */
export function addedOrModified(comparison: Comparison): FieldSet {
  return union(comparison.modified, comparison.added);
}

/** All fields in the comparison. */
export function allFields(comparison: Comparison): FieldSet {
  return union(addedOrModified(comparison), comparison.removed);
}

type Changes = { -readonly [Kind in keyof Comparison]?: FieldSet };

const KINDS = ["added", "modified", "removed"] as const;

function compareNodes(before: unknown, after: unknown, schema: Schema): Changes | undefined {
  if (before === after) return undefined;
  if (before === undefined) return { added: allFieldsOf(after, schema) };
  if (after === undefined) return { removed: allFieldsOf(before, schema) };
  const map = granularMap(schema);
  if (map !== undefined && areFilled(isFilledMap, before, after)) {
    return compareMaps(mapOf(before), mapOf(after), map);
  }
  const list = granularList(schema);
  if (list !== undefined && areFilled(isFilledList, before, after)) {
    return compareLists(listOf(before), listOf(after), list);
  }
  if (jsonEqual(before, after)) return undefined;
  return map === undefined ? { modified: MEMBER } : replaced(before, after, map);
}

/**
 * A replacement by a value of another type, where the schema does not fix the type. All fields below the old value are
 * removed, all below the new one are added.
 */
function replaced(before: unknown, after: unknown, schema: StructSchema | MapSchema): Changes {
  const changes: Changes = { modified: MEMBER };
  if (isFilledMap(before)) changes.removed = fieldsBelow(before, schema);
  if (isFilledMap(after)) changes.added = fieldsBelow(after, schema);
  return changes;
}

function fieldsBelow(map: JsonObject, schema: StructSchema | MapSchema): FieldSet {
  const { [SELF]: _, ...fields } = allFieldsOf(map, schema);
  return fields;
}

/** True when both sides have members, or one has and the other is empty. Their members are then compared. */
function areFilled(isFilled: (value: unknown) => boolean, before: unknown, after: unknown): boolean {
  if (isFilled(before)) return isFilled(after) || isNothing(after, before);
  return isFilled(after) && isNothing(before, after);
}

/** True for null and for an empty container of the other's type. */
function isNothing(value: unknown, other: unknown): boolean {
  if (value === null) return true;
  return typeof value === "object" && Array.isArray(value) === Array.isArray(other);
}

function mapOf(value: unknown): JsonObject {
  return isFilledMap(value) ? value : {};
}

function listOf(value: unknown): readonly unknown[] {
  return isFilledList(value) ? value : [];
}

function compareMaps(
  before: JsonObject,
  after: JsonObject,
  schema: StructSchema | MapSchema,
): Changes | undefined {
  let found: Drafts | undefined;
  for (const key in before) {
    const other = Object.hasOwn(after, key) ? after[key] : undefined;
    if (before[key] === other) continue;
    const changes = compareNodes(before[key], other, memberSchema(schema, key));
    if (changes !== undefined) found = collect(found, fieldElement(key), changes);
  }
  for (const key in after) {
    if (Object.hasOwn(before, key)) continue;
    const changes = compareNodes(undefined, after[key], memberSchema(schema, key));
    if (changes !== undefined) found = collect(found, fieldElement(key), changes);
  }
  return sortedChanges(found);
}

function compareLists(
  before: readonly unknown[],
  after: readonly unknown[],
  schema: ListSchema,
): Changes | undefined {
  let found: Drafts | undefined;
  const left = indexedItems(schema, before);
  const right = indexedItems(schema, after);
  for (const [element, item] of left) {
    const changes = compareItems(item, right.get(element), schema);
    if (changes !== undefined) found = collect(found, element, changes);
  }
  for (const [element, item] of right) {
    const changes = left.has(element) ? undefined : compareItems(undefined, item, schema);
    if (changes !== undefined) found = collect(found, element, changes);
  }
  return sortedChanges(found);
}

/**
 * Repeated items are compared as one leaf. When an item becomes repeated, or stops being so, the leaf replaces the item's
 * fields.
 */
function compareItems(before: unknown, after: unknown, schema: ListSchema): Changes | undefined {
  if (before instanceof DuplicateItems) {
    if (!(after instanceof DuplicateItems))
      return { ...compareNodes(undefined, after, schema.items), removed: MEMBER };
    return jsonEqual(before.items, after.items) ? undefined : { modified: MEMBER };
  }
  if (after instanceof DuplicateItems)
    return { ...compareNodes(before, undefined, schema.items), added: MEMBER };
  return compareNodes(before, after, schema.items);
}

type Drafts = Partial<Record<keyof Comparison, FieldSetDraft>>;

function collect(found: Drafts | undefined, element: string, changes: Changes): Drafts {
  const drafts = found ?? {};
  for (const kind of KINDS) {
    const node = changes[kind];
    if (node !== undefined) (drafts[kind] ??= {})[element] = node;
  }
  return drafts;
}

function sortedChanges(found: Drafts | undefined): Changes | undefined {
  if (found === undefined) return undefined;
  const changes: Changes = {};
  for (const kind of KINDS) {
    const draft = found[kind];
    if (draft !== undefined) changes[kind] = sortedSet(draft);
  }
  return changes;
}
