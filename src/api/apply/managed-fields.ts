/**
 * Keeps `metadata.managedFields` correct for writes of whole objects: create, update and the three patches. The fields that
 * a write changes belong to its writer alone from then on.
 */
import { isJsonObject, type JsonObject, setOwn } from "../json/json-object.ts";
import { jsonEqual } from "../patch/json-equal.ts";
import { zeroStruct } from "../schema/go-zero.ts";
import type { StructSchema } from "../schema/schema.ts";
import { isSame, addedOrModified } from "./fields/compare.ts";
import { difference, type FieldSet, isEmpty, union } from "./fields/field-set.ts";
import { newFieldsOf } from "./fields/new-fields.ts";
import { alignedWith } from "./fields/set-schema.ts";
import { sharedUnion } from "./fields/shared-set.ts";
import {
  capUpdates,
  type Identity,
  isSameOwner,
  type Managed,
  type ManagedEntry,
  newEntry,
  orderedEntries,
  ownedBy,
  sentEntries,
  storedEntries,
  withEntry,
  withFields,
} from "./managed-entry.ts";
import { changesOf, type ObjectUpdate, remainingOwners } from "./object-update.ts";
import { NEVER_OWNED, schemaOf, type Writer, type Versions } from "./writer.ts";

export interface TrackInput {
  /** The stored object in the writer's version; `undefined` when the write creates it. */
  readonly live: JsonObject | undefined;
  /** The object to be stored, in normal form and defaulted. */
  readonly next: JsonObject;
  /** The object as the writer asked for it, where the server adds fields. Fields the server adds have no owner. */
  readonly asked?: JsonObject | undefined;
  readonly writer: Writer;
  /**
   * `metadata.managedFields` as the client sent it; the default is that of `next`. The normal form loses the difference
   * between `[]`, which clears the entries, and an absent list, which keeps them.
   */
  readonly sentManagedFields?: unknown;
}

/** `next` with its managed fields. Unchanged entries are those of the live object. */
export function trackUpdate({ live, next, asked, writer, sentManagedFields }: TrackInput): JsonObject {
  const before = managedFieldsOf(live);
  const managed = keptEntries(before, sentManagedFields ?? managedFieldsOf(next), writer);
  // As upstream: an object whose entries were cleared is untracked until its next apply.
  if (live !== undefined && managed.length === 0) return withManagedFields(next, undefined);
  // Compares with the old entries in place, so that the objects differ only by the change itself.
  const kept = live === undefined ? next : withManagedFields(next, before);
  const after = managedAfterUpdate({ before: live, after: asked ?? kept, writer }, managed);
  return withManagedFields(kept, orderedEntries(after, before));
}

/** The entries after the write. An object that is created counts as empty before. */
export function managedAfterUpdate(change: ObjectUpdate, managed: Managed): Managed {
  const { after, writer } = change;
  if (change.before === undefined && managed.length === 0) return creatorsEntry(after, writer);
  const before = change.before ?? zeroStruct(schemaOf(writer));
  const changes = changesOf({ before, after, writer });
  const own = changes.at(writer.apiVersion);
  if (own === undefined || isSame(own)) return managed;
  const taken = difference(addedOrModified(own), NEVER_OWNED);
  if (isEmpty(taken)) return remainingOwners(managed, changes);
  const identity = identityOf(writer);
  const previous = managed.find((entry) => isSameOwner(entry, identity));
  const others = remainingOwners(managed, changes, previous);
  const fields =
    previous === undefined ? taken : sharedUnion(difference(ownedBy(previous), own.removed), taken);
  return capUpdates(
    fields === previous?.fieldsV1
      ? withTime(others, previous, writer.now)
      : withEntry(others, newEntry(identity, writer.now, fields)),
  );
}

/** Updates the time only. This is the common case: a writer repeats fields that it already owns. */
function withTime(managed: Managed, entry: ManagedEntry, time: string): Managed {
  if (time === entry.time) return managed;
  return managed.map((other) => (other === entry ? { ...entry, time } : other));
}

/** The entry of an object without owners: the creator owns every field. */
function creatorsEntry(object: JsonObject, writer: Writer): Managed {
  const taken = newFieldsOf(object, schemaOf(writer), unownedBy(writer));
  return isEmpty(taken) ? [] : [newEntry(identityOf(writer), writer.now, taken)];
}

/** Cache of `unownedBy`, by reset fields. It stays small because there are few endpoints. */
const unowned = new WeakMap<FieldSet, FieldSet>();

/** Fields without an owner: the fixed ones, and the ones that the writer's endpoint resets. */
function unownedBy({ resetFields }: Writer): FieldSet {
  if (resetFields === undefined) return NEVER_OWNED;
  const known = unowned.get(resetFields) ?? union(NEVER_OWNED, resetFields);
  unowned.set(resetFields, known);
  return known;
}

function identityOf({ manager, apiVersion, subresource }: Writer): Identity {
  return { manager: manager === "" ? "unknown" : manager, operation: "Update", apiVersion, subresource };
}

/** The entries before the write: the live ones, unless a client replaces or clears them on the main resource. */
function keptEntries(live: unknown, sent: unknown, { subresource, versions }: Writer): Managed {
  if (sent === live || subresource !== "" || sent === undefined || sent === null)
    return liveEntries(live, versions);
  if (isReset(sent)) return [];
  if (jsonEqual(sent, live)) return liveEntries(live, versions);
  const entries = readOrNone(sentEntries, sent);
  return entries.length === 0 ? liveEntries(live, versions) : aligned(entries, versions);
}

function isReset(sent: unknown): boolean {
  if (!Array.isArray(sent) || sent.length > 1) return false;
  return sent.length === 0 || jsonEqual(sent[0], {});
}

export function liveEntries(entries: unknown, versions: Versions): Managed {
  return aligned(readOrNone(storedEntries, entries), versions);
}

/** Reads entries; malformed ones count as none, so that they cannot block writes of the object. */
function readOrNone(read: (entries: unknown) => Managed, entries: unknown): Managed {
  try {
    return read(entries);
  } catch {
    return [];
  }
}

/** The entries adapted to current schemas; the list itself when all fit, which is the usual case. */
function aligned(managed: Managed, versions: Versions): Managed {
  return managed.every((entry) => isAligned(entry, versions))
    ? managed
    : managed.flatMap((entry) => realigned(entry, versions));
}

/** Sets known to fit a schema. Sets of built-in kinds always fit, so each is checked once. */
const fitting = new WeakMap<FieldSet, StructSchema>();

function isAligned({ apiVersion, fieldsV1 }: ManagedEntry, versions: Versions): boolean {
  if (fieldsV1 === undefined) return false;
  const schema = versions.findSchema(apiVersion);
  return schema !== undefined && fitting.get(fieldsV1) === schema;
}

/** The entry adapted to the current schema; none when its version is no longer served. */
function realigned(entry: ManagedEntry, versions: Versions): readonly ManagedEntry[] {
  const schema = versions.findSchema(entry.apiVersion);
  if (schema === undefined) return [];
  const fitted = withFields(entry, alignedWith(ownedBy(entry), schema));
  fitting.set(ownedBy(fitted), schema);
  return [fitted];
}

export function managedFieldsOf(object: JsonObject | undefined): unknown {
  const metadata = object?.metadata;
  return isJsonObject(metadata) ? metadata.managedFields : undefined;
}

/** The object with these entries, or without entries; the object itself when nothing changes. */
export function withManagedFields(object: JsonObject, entries: unknown): JsonObject {
  if (managedFieldsOf(object) === entries) return object;
  const metadata = isJsonObject(object.metadata) ? object.metadata : {};
  return { ...object, metadata: metadataWith(metadata, entries) };
}

/** Sets or removes `managedFields` and keeps the keys in the order of the normal form. */
function metadataWith(metadata: JsonObject, entries: unknown): JsonObject {
  if (entries !== undefined && metadata.managedFields !== undefined)
    return { ...metadata, managedFields: entries };
  const ordered: Record<string, unknown> = {};
  let isPlaced = entries === undefined;
  for (const key of Object.keys(metadata)) {
    if (key === "managedFields") continue;
    if (!isPlaced && key > "managedFields") {
      ordered.managedFields = entries;
      isPlaced = true;
    }
    setOwn(ordered, key, metadata[key]);
  }
  if (!isPlaced) ordered.managedFields = entries;
  return ordered;
}
