/**
 * Keeps `metadata.managedFields` true for writers that give whole objects: create, update and the three patches.
 * What a write changes belongs to its writer from then on, and to nobody else.
 */
import { zeroStruct } from "../go-zero.ts";
import { isJsonObject, type JsonObject, setOwn } from "../json-object.ts";
import { jsonEqual } from "../patch/json-equal.ts";
import type { StructSchema } from "../schema.ts";
import { changesOf, type ObjectChange, remainingOwners } from "./change.ts";
import { isSame, written } from "./fields/compare.ts";
import { difference, type FieldSet, isEmpty, recursiveDifference, union } from "./fields/field-set.ts";
import { newFieldsOf } from "./fields/present-fields.ts";
import { alignedWith } from "./fields/set-schema.ts";
import {
  capUpdates,
  decodeEntries,
  encodeEntries,
  type EntryOrigin,
  entryId,
  type Managed,
  type ManagedEntry,
  withEntry,
  withFields,
} from "./managed-entry.ts";
import { NEVER_OWNED, schemaOf, type Writer, type Versions } from "./writer.ts";

export interface TrackInput {
  /** The stored object in the writer's version; `undefined` when the write creates it. */
  readonly live: JsonObject | undefined;
  /** The object to be stored, in normal form and defaulted. */
  readonly next: JsonObject;
  /** What the writer wants to be there, where the server adds to it; what it adds belongs to nobody. */
  readonly asked?: JsonObject;
  readonly writer: Writer;
  /**
   * `metadata.managedFields` as the client sent it, because the normal form loses the difference between `[]`, which
   * clears the entries, and nothing, which keeps them. Taken from `next` when not given.
   */
  readonly sentManagedFields?: unknown;
}

/** `next` with its managed fields. Entries that do not change are the live object's own. */
export function trackUpdate({ live, next, asked, writer, sentManagedFields }: TrackInput): JsonObject {
  const sent = sentManagedFields ?? managedFieldsOf(next);
  const managed = keptEntries(managedFieldsOf(live), sent, writer);
  // As upstream: an object whose entries are gone is tracked again from its next apply on.
  if (live !== undefined && managed.size === 0) return withManagedFields(next, undefined);
  const after = managedAfterUpdate({ before: live, after: asked ?? next, writer }, managed);
  return withManagedFields(next, encodeEntries(after, managedFieldsOf(live)));
}

/** The entries after a write by the writer. An object that did not exist before was empty. */
export function managedAfterUpdate(change: ObjectChange, managed: Managed): Managed {
  const { writer } = change;
  if (change.before === undefined && managed.size === 0) return creatorsEntry(change.after, writer);
  const before = change.before ?? zeroStruct(schemaOf(writer));
  const changes = changesOf({ ...change, before });
  const own = changes.at(writer.apiVersion);
  if (own === undefined || isSame(own)) return managed;
  const { owners } = remainingOwners(managed, changes);
  const taken = difference(written(own), NEVER_OWNED);
  if (isEmpty(taken)) return owners;
  return capUpdates(withEntry(owners, writersEntry(managed, writer, taken)));
}

/** Nobody owned anything before: everything that is there is the creator's. */
function creatorsEntry(object: JsonObject, writer: Writer): Managed {
  const added = newFieldsOf(object, schemaOf(writer));
  const given = writer.resetFields === undefined ? added : recursiveDifference(added, writer.resetFields);
  const taken = difference(given, NEVER_OWNED);
  return isEmpty(taken) ? NOBODY : withEntry(NOBODY, writersEntry(NOBODY, writer, taken));
}

const NOBODY: Managed = new Map();

/** The writer's entry with what it has taken now; it keeps what it had of that before. */
function writersEntry(managed: Managed, writer: Writer, taken: FieldSet): ManagedEntry {
  const { manager, apiVersion, subresource, now } = writer;
  const entry = {
    manager: manager === "" ? "unknown" : manager,
    operation: "Update",
    apiVersion,
    subresource,
    time: now,
    source: undefined,
  } as const;
  const previous = managed.get(entryId(entry));
  return { ...entry, fields: previous === undefined ? taken : union(previous.fields, taken) };
}

/** The live entries, unless the client writes the main resource and sends others or clears them. */
function keptEntries(live: unknown, sent: unknown, { subresource, versions }: Writer): Managed {
  if (subresource !== "" || sent === undefined || sent === null) return liveEntries(live, versions);
  if (isReset(sent)) return new Map();
  if (jsonEqual(sent, live)) return liveEntries(live, versions);
  const entries = decodeOrNone(sent, "sent");
  return entries.size === 0 ? liveEntries(live, versions) : aligned(entries, versions);
}

function isReset(sent: unknown): boolean {
  if (!Array.isArray(sent) || sent.length > 1) return false;
  return sent.length === 0 || jsonEqual(sent[0], {});
}

export function liveEntries(entries: unknown, versions: Versions): Managed {
  return aligned(decodeOrNone(entries, "stored"), versions);
}

/** Malformed entries count as none, so that they cannot keep an object from being written. */
function decodeOrNone(entries: unknown, origin: EntryOrigin): Managed {
  try {
    return decodeEntries(entries, origin);
  } catch {
    return new Map();
  }
}

function aligned(managed: Managed, versions: Versions): Managed {
  const result = new Map<string, ManagedEntry>();
  for (const [id, entry] of managed) {
    const schema = versions.findSchema(entry.apiVersion);
    if (schema !== undefined)
      result.set(id, isAligned(entry.fields, schema) ? entry : realigned(entry, schema));
  }
  return result;
}

/** Sets that were found to fit a schema: those of built-in kinds always do, and are looked through once. */
const fitting = new WeakMap<FieldSet, StructSchema>();

function isAligned(fields: FieldSet, schema: StructSchema): boolean {
  return fitting.get(fields) === schema;
}

function realigned(entry: ManagedEntry, schema: StructSchema): ManagedEntry {
  const fields = alignedWith(entry.fields, schema);
  fitting.set(fields, schema);
  return withFields(entry, fields);
}

export function managedFieldsOf(object: JsonObject | undefined): unknown {
  const metadata = object?.metadata;
  return isJsonObject(metadata) ? metadata.managedFields : undefined;
}

/** The object with these entries, or without any; itself when it has them. */
export function withManagedFields(
  object: JsonObject,
  entries: readonly JsonObject[] | undefined,
): JsonObject {
  if (managedFieldsOf(object) === entries) return object;
  const metadata = isJsonObject(object.metadata) ? object.metadata : {};
  return { ...object, metadata: metadataWith(metadata, entries) };
}

/** Keys of the normal form are in order. */
function metadataWith(metadata: JsonObject, entries: readonly JsonObject[] | undefined): JsonObject {
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
