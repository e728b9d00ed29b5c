/** A change of an object and what it does to the owners of its fields, in whatever version each of them wrote. */
import type { JsonObject } from "../json-object.ts";
import { type Comparison, compare, isSame, touched, within, without, written } from "./fields/compare.ts";
import { difference, type FieldSet, intersection, isEmpty } from "./fields/field-set.ts";
import { type Managed, type ManagedEntry, withFields } from "./managed-entry.ts";
import type { Writer } from "./writer.ts";

export interface ObjectChange {
  readonly before: JsonObject | undefined;
  readonly after: JsonObject;
  readonly writer: Writer;
}

/** The difference as seen in a version; `undefined` when that version is gone. */
export interface Changes {
  at(apiVersion: string): Comparison | undefined;
}

/** Managed fields, and what the endpoint resets, are no changes. Each version is compared at most once. */
export function changesOf({ before, after, writer }: ObjectChange): Changes {
  const [left, right] = [withoutEntries(before ?? {}), withoutEntries(after)];
  return remembered((apiVersion) => {
    const schema = writer.versions.findSchema(apiVersion);
    if (schema === undefined) return undefined;
    const [from, to] = [left, right].map((side) => inVersion(side, writer, apiVersion));
    const comparison = compare(from, to, schema);
    return writer.resetFields === undefined ? comparison : without(comparison, writer.resetFields);
  });
}

/**
 * What was stated and also came about. An applier that states the same in other words (`0.5` for `500m`) changes
 * nothing, and one that states a zero changes the field, though the zero itself is then left out.
 */
export function effectiveChanges(stated: Changes, outcome: Changes): Changes {
  return remembered((apiVersion) => {
    const [wish, fact] = [stated.at(apiVersion), outcome.at(apiVersion)];
    return wish === undefined || fact === undefined ? undefined : within(wish, touched(fact));
  });
}

function remembered(compareAt: (apiVersion: string) => Comparison | undefined): Changes {
  const known = new Map<string, Comparison | undefined>();
  return {
    at(apiVersion) {
      if (!known.has(apiVersion)) known.set(apiVersion, compareAt(apiVersion));
      return known.get(apiVersion);
    },
  };
}

function inVersion(object: JsonObject, writer: Writer, apiVersion: string): JsonObject {
  return apiVersion === writer.apiVersion ? object : writer.versions.convert(object, apiVersion);
}

function withoutEntries(object: JsonObject): JsonObject {
  const metadata = object.metadata as JsonObject | undefined;
  if (metadata?.managedFields === undefined) return object;
  const { managedFields: _, ...rest } = metadata;
  return { ...object, metadata: rest };
}

export interface Owners {
  /** The entries with what the change left them; those without anything are gone. */
  readonly owners: Managed;
  /** By entry, the fields it owned whose value the change gave. */
  readonly conflicts: ReadonlyMap<ManagedEntry, FieldSet>;
}

/** What the change leaves to others than `exceptId`. */
export function remainingOwners(managed: Managed, changes: Changes, exceptId?: string): Owners {
  const sets = new Map<Comparison, { readonly given: FieldSet; readonly changed: FieldSet }>();
  const setsOf = (comparison: Comparison): { readonly given: FieldSet; readonly changed: FieldSet } => {
    const known = sets.get(comparison) ?? { given: written(comparison), changed: touched(comparison) };
    sets.set(comparison, known);
    return known;
  };
  const owners = new Map<string, ManagedEntry>();
  const conflicts = new Map<ManagedEntry, FieldSet>();
  for (const [id, entry] of managed) {
    const comparison = changes.at(entry.apiVersion);
    if (comparison === undefined) continue;
    if (id === exceptId || isSame(comparison)) {
      owners.set(id, entry);
      continue;
    }
    const { given, changed } = setsOf(comparison);
    const lost = intersection(entry.fields, given);
    if (!isEmpty(lost)) conflicts.set(entry, lost);
    const fields = difference(entry.fields, changed);
    if (!isEmpty(fields)) owners.set(id, withFields(entry, fields));
  }
  return { owners, conflicts };
}
