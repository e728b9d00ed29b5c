/** Removes fields that the applier applied last time, no longer applies, and no manager owns. */
import type { YieldingWork } from "../../base/loop/yielding-work.ts";
import type { JsonObject } from "../json/json-object.ts";
import type { StructSchema } from "../schema/schema.ts";
import { difference, EMPTY, type FieldSet, intersection, isEmpty, union } from "./fields/field-set.ts";
import { fieldsOf } from "./fields/present-fields.ts";
import { removeFields } from "./fields/remove.ts";
import { withNamedFields } from "./fields/set-schema.ts";
import { type Managed, type ManagedEntry, ownedBy } from "./managed-entry.ts";
import type { Versions } from "./writer.ts";

export interface PruneInput {
  /** The merged object in `apiVersion`; the result is in the same version. */
  readonly merged: JsonObject;
  readonly apiVersion: string;
  readonly versions: Versions;
  /** The applier's entry before this apply. */
  readonly last: ManagedEntry;
  /** All entries, with the applier's entry as it will be. */
  readonly managed: Managed;
}

export function* prune(input: PruneInput): YieldingWork<JsonObject> {
  const { merged, apiVersion, last, versions } = input;
  const schema = versions.findSchema(last.apiVersion);
  if (schema === undefined || isEmpty(ownedBy(last))) return merged;
  const object = versioned(merged, { from: apiVersion, to: last.apiVersion, versions });
  const lastFields = withNamedFields(ownedBy(last), schema);
  const owned = yield* addBackOwned(object, lastFields, input);
  yield;
  const held = heldFields(object, schema);
  yield;
  const given = difference(held, heldFields(owned, schema));
  yield;
  const pruned = removeFields(object, intersection(given, lastFields), schema) as JsonObject;
  return versioned(pruned, { from: last.apiVersion, to: apiVersion, versions });
}

/**
 * The object without the applier's last fields, except those that a manager owns. This is decided in each version with
 * owners. The version applied last comes first, because a conversion may need some of the fields.
 */
function* addBackOwned(
  object: JsonObject,
  lastFields: FieldSet,
  { last, managed, versions }: PruneInput,
): YieldingWork<JsonObject> {
  const first = versions.findSchema(last.apiVersion);
  if (first === undefined) return object;
  let at = last.apiVersion;
  let whole = object;
  let pruned = removeFields(object, lastFields, first) as JsonObject;
  for (const [apiVersion, fields] of fieldsByVersion(managed, last.apiVersion)) {
    const schema = versions.findSchema(apiVersion);
    if (schema === undefined) continue;
    whole = versioned(whole, { from: at, to: apiVersion, versions });
    pruned = versioned(pruned, { from: at, to: apiVersion, versions });
    at = apiVersion;
    const kept = union(heldFields(pruned, schema), withNamedFields(fields, schema));
    yield;
    pruned = removeFields(whole, difference(heldFields(whole, schema), kept), schema) as JsonObject;
  }
  return versioned(pruned, { from: at, to: last.apiVersion, versions });
}

/** The fields of all entries by version, starting with `first`. */
function fieldsByVersion(managed: Managed, first: string): ReadonlyMap<string, FieldSet> {
  const byVersion = new Map<string, FieldSet>([[first, EMPTY]]);
  for (const entry of managed) {
    const { apiVersion } = entry;
    byVersion.set(apiVersion, union(byVersion.get(apiVersion) ?? EMPTY, ownedBy(entry)));
  }
  return byVersion;
}

/**
 * Fields that an owner could claim, including the structs that hold them. As upstream, a struct with only empty
 * lists is left out, so that it is removed with its owner's fields.
 */
function heldFields(object: JsonObject, schema: StructSchema): FieldSet {
  return withNamedFields(fieldsOf(object, schema), schema);
}

function versioned(
  object: JsonObject,
  { from, to, versions }: { readonly from: string; readonly to: string; readonly versions: Versions },
): JsonObject {
  return from === to ? object : versions.convert(object, to);
}
