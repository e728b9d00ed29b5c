/** The effect of a change on the owners of its fields, compared in the API version each owner wrote. */
import type { JsonObject } from "../json/json-object.ts";
import {
  type Comparison,
  compare,
  isSame,
  matchingFields,
  allFields,
  onlyFields,
  exceptFields,
  addedOrModified,
} from "./fields/compare.ts";
import { difference, type FieldSet, intersection, isEmpty } from "./fields/field-set.ts";
import { type Managed, type ManagedEntry, ownedBy, withFields } from "./managed-entry.ts";
import type { Writer } from "./writer.ts";

export interface ObjectUpdate {
  readonly before: JsonObject | undefined;
  readonly after: JsonObject;
  readonly writer: Writer;
}

/** The changed fields as seen in one API version; `undefined` when that version is no longer served. */
export interface Changes {
  at(apiVersion: string): Comparison | undefined;
}

/**
 * Compares two objects, without managed fields and fields that the endpoint resets or does not write. Compares each version
 * at most once.
 */
export function changesOf({ before = {}, after, writer }: ObjectUpdate): Changes {
  const isBare = entriesOf(before) === entriesOf(after);
  const left = isBare ? before : withoutEntries(before);
  const right = isBare ? after : withoutEntries(after);
  return new CachedChanges((apiVersion) => {
    const schema = writer.versions.findSchema(apiVersion);
    if (schema === undefined) return undefined;
    const from = inVersion(left, writer, apiVersion);
    const comparison = compare(from, inVersion(right, writer, apiVersion), schema);
    if (writer.writes !== undefined) return matchingFields(comparison, writer.writes);
    return writer.resetFields === undefined ? comparison : exceptFields(comparison, writer.resetFields);
  });
}

/**
 * The stated changes that also took effect. An applier that spells a value differently (`0.5` for `500m`) changes nothing.
 * An applier that states a zero changes the field, although the zero is then left out.
 */
export function effectiveChanges(stated: Changes, outcome: Changes): Changes {
  return new CachedChanges((apiVersion) => {
    const [wish, fact] = [stated.at(apiVersion), outcome.at(apiVersion)];
    return wish === undefined || fact === undefined ? undefined : onlyFields(wish, allFields(fact));
  });
}

class CachedChanges implements Changes {
  readonly #compareAt: (apiVersion: string) => Comparison | undefined;
  /** The first version compared. Nearly every object has owners in one version only. */
  #first: { readonly apiVersion: string; readonly comparison: Comparison | undefined } | undefined;
  #others: Map<string, Comparison | undefined> | undefined;

  constructor(compareAt: (apiVersion: string) => Comparison | undefined) {
    this.#compareAt = compareAt;
  }

  at(apiVersion: string): Comparison | undefined {
    this.#first ??= { apiVersion, comparison: this.#compareAt(apiVersion) };
    return this.#first.apiVersion === apiVersion ? this.#first.comparison : this.#other(apiVersion);
  }

  #other(apiVersion: string): Comparison | undefined {
    const others = (this.#others ??= new Map<string, Comparison | undefined>());
    if (!others.has(apiVersion)) others.set(apiVersion, this.#compareAt(apiVersion));
    return others.get(apiVersion);
  }
}

function inVersion(object: JsonObject, writer: Writer, apiVersion: string): JsonObject {
  return apiVersion === writer.apiVersion ? object : writer.versions.convert(object, apiVersion);
}

function entriesOf(object: JsonObject): unknown {
  return (object.metadata as JsonObject | undefined)?.managedFields;
}

function withoutEntries(object: JsonObject): JsonObject {
  const metadata = object.metadata as JsonObject | undefined;
  if (metadata?.managedFields === undefined) return object;
  const { managedFields: _, ...rest } = metadata;
  return { ...object, metadata: rest };
}

/**
 * The owners other than `except` after they lost the changed fields. Owners without fields are dropped. Returns the list
 * itself when no owner loses a field.
 */
export function remainingOwners(managed: Managed, changes: Changes, except?: ManagedEntry): Managed {
  const losses = perComparison(allFields);
  let remaining: ManagedEntry[] | undefined;
  for (let at = 0; at < managed.length; at++) {
    const entry = managed[at];
    if (entry === undefined) continue;
    const comparison = changes.at(entry.apiVersion);
    const left = entry === except && comparison !== undefined ? entry : remainder(entry, comparison, losses);
    if (left !== entry) remaining ??= managed.slice(0, at);
    if (left !== undefined) remaining?.push(left);
  }
  return remaining ?? managed;
}

function remainder(
  entry: ManagedEntry,
  comparison: Comparison | undefined,
  losses: (comparison: Comparison) => FieldSet,
): ManagedEntry | undefined {
  if (comparison === undefined) return undefined;
  if (isSame(comparison)) return entry;
  const fields = difference(ownedBy(entry), losses(comparison));
  return isEmpty(fields) ? undefined : withFields(entry, fields);
}

/** Conflicting fields by entry: fields that the entry owned and the change set to another value. */
export type Conflicts = ReadonlyMap<ManagedEntry, FieldSet>;

/** The conflicts with all owners but `except`. */
export function conflictsOf(managed: Managed, changes: Changes, except?: ManagedEntry): Conflicts {
  const gains = perComparison(addedOrModified);
  const conflicts = new Map<ManagedEntry, FieldSet>();
  for (const entry of managed) {
    const comparison = entry === except ? undefined : changes.at(entry.apiVersion);
    if (comparison === undefined || isSame(comparison)) continue;
    const lost = intersection(ownedBy(entry), gains(comparison));
    if (!isEmpty(lost)) conflicts.set(entry, lost);
  }
  return conflicts;
}

/** Computes a result once per comparison, because thousands of owners may share one. */
function perComparison(find: (comparison: Comparison) => FieldSet): (comparison: Comparison) => FieldSet {
  const known = new Map<Comparison, FieldSet>();
  return (comparison) => {
    const found = known.get(comparison) ?? find(comparison);
    known.set(comparison, found);
    return found;
  };
}
