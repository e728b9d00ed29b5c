/** The entries of `metadata.managedFields`: who owns which fields, by which kind of write. */
import { isJsonObject, type JsonObject } from "../json-object.ts";
import { stringifyJson } from "../json-text.ts";
import { quoted } from "../message-text.ts";
import { compareNames } from "../schema.ts";
import { EMPTY, type FieldSet, isEmpty, parseFieldSet, unionOf } from "./fields/field-set.ts";
import { setText, sharedSet } from "./fields/shared-set.ts";

export type Operation = "Apply" | "Update";

export interface ManagedEntry {
  readonly manager: string;
  readonly operation: Operation;
  readonly apiVersion: string;
  /** Empty for the main resource. */
  readonly subresource: string;
  /** Whole seconds, as `2026-11-15T05:00:00Z`. */
  readonly time: string | undefined;
  readonly fields: FieldSet;
  /** What the entry was read from, as long as nothing in it changed; written back as it is. */
  readonly source: JsonObject | undefined;
}

/** Entries by identity. */
export type Managed = ReadonlyMap<string, ManagedEntry>;

/** Upstream's bound on entries of updates; the oldest beyond it are merged. */
const UPDATE_ENTRIES_MAX = 10;

type Identity = Pick<ManagedEntry, "manager" | "operation" | "apiVersion" | "subresource">;

/** What tells entries apart. An applier has one entry for all versions. Conflicts are listed in its order. */
export function entryId({ manager, operation, apiVersion, subresource }: Identity): string {
  const version = operation === "Apply" ? "" : `,"apiVersion":${JSON.stringify(apiVersion)}`;
  const part = subresource === "" ? "" : `,"subresource":${JSON.stringify(subresource)}`;
  return `{"manager":${JSON.stringify(manager)},"operation":"${operation}"${version}${part}}`;
}

/** Entries of a stored object were checked when they were written; what a client sends is brought to canonical form. */
export type EntryOrigin = "stored" | "sent";

/** Reads the entries of an object. Throws an Error with upstream's text when one is malformed. */
export function decodeEntries(entries: unknown, origin: EntryOrigin): Managed {
  const managed = new Map<string, ManagedEntry>();
  if (!Array.isArray(entries)) return managed;
  for (const [at, source] of entries.entries()) {
    const entry = decodeEntry(source, at, origin);
    managed.set(entryId(entry), entry);
  }
  return managed;
}

function decodeEntry(source: unknown, at: number, origin: EntryOrigin): ManagedEntry {
  const entry = isJsonObject(source) ? source : {};
  const operation = textMember(entry, "operation");
  if (operation !== "Apply" && operation !== "Update")
    throw new Error("operation must be `Apply` or `Update`");
  const apiVersion = textMember(entry, "apiVersion");
  if (apiVersion === "") throw new Error("apiVersion must not be empty");
  checkFieldsType(textMember(entry, "fieldsType"), at);
  const fields = entry.fieldsV1 ?? EMPTY;
  return {
    manager: textMember(entry, "manager"),
    operation,
    apiVersion,
    subresource: textMember(entry, "subresource"),
    time: textMember(entry, "time") || undefined,
    fields: origin === "stored" ? (fields as FieldSet) : parseFieldSet(fields),
    source: origin === "stored" ? entry : undefined,
  };
}

function checkFieldsType(type: string, at: number): void {
  if (type === "FieldsV1") return;
  if (type === "") throw new Error(`missing fieldsType in managed fields entry ${at}`);
  throw new Error(`invalid fieldsType ${quoted(type)} in managed fields entry ${at}`);
}

function textMember(entry: JsonObject, name: string): string {
  const value = entry[name];
  return typeof value === "string" ? value : "";
}

/**
 * The entries as the API has them, in upstream's order; `undefined` when there are none. `previous` itself when they
 * are the same, so that an unchanged object stays one.
 */
export function encodeEntries(managed: Managed, previous: unknown): readonly JsonObject[] | undefined {
  if (managed.size === 0) return undefined;
  const encoded = [...managed.values()].toSorted(compareEntries).map(encodeEntry);
  const isSame =
    Array.isArray(previous) &&
    previous.length === encoded.length &&
    encoded.every((entry, at) => entry === previous[at]);
  return isSame ? (previous as readonly JsonObject[]) : encoded;
}

/** In the order of the normal form. */
function encodeEntry(entry: ManagedEntry): JsonObject {
  if (entry.source !== undefined) return entry.source;
  const { apiVersion, fields, manager, operation, subresource, time } = entry;
  return {
    apiVersion,
    fieldsType: "FieldsV1",
    fieldsV1: sharedSet(fields),
    manager,
    operation,
    ...(subresource === "" ? {} : { subresource }),
    ...(time === undefined ? {} : { time }),
  };
}

/** JSON of entries of an object in normal form; sets that many objects have are not written out anew. */
export function entriesText(entries: unknown): string {
  return Array.isArray(entries) ? `[${entries.map(entryText).join(",")}]` : stringifyJson(entries);
}

function entryText(entry: unknown): string {
  if (!isJsonObject(entry)) return stringifyJson(entry);
  let text = "";
  for (const key of Object.keys(entry)) {
    const isSet = key === "fieldsV1" && isJsonObject(entry[key]);
    const member = isSet ? setText(entry[key] as FieldSet) : stringifyJson(entry[key]);
    text += `${text === "" ? "{" : ","}"${key}":${member}`;
  }
  return text === "" ? "{}" : `${text}}`;
}

function compareEntries(left: ManagedEntry, right: ManagedEntry): number {
  return (
    compareNames(left.operation, right.operation) ||
    compareNames(left.time ?? "", right.time ?? "") ||
    compareNames(left.manager, right.manager) ||
    compareNames(left.apiVersion, right.apiVersion) ||
    compareNames(left.subresource, right.subresource)
  );
}

/** The entry with other fields; the same entry when they are. */
export function withFields(entry: ManagedEntry, fields: FieldSet): ManagedEntry {
  return fields === entry.fields ? entry : { ...entry, fields, source: undefined };
}

/** The entries with one set, or left out when it owns nothing. */
export function withEntry(managed: Managed, entry: ManagedEntry): Managed {
  const changed = new Map(managed);
  const id = entryId(entry);
  if (isEmpty(entry.fields)) changed.delete(id);
  else changed.set(id, entry);
  return changed;
}

/**
 * At most ten entries of updates: beyond that the oldest of one version become one entry, `ancient-changes`, with
 * the time of the newest of them.
 */
export function capUpdates(managed: Managed): Managed {
  const updates = [...managed].filter(([, { operation }]) => operation === "Update");
  if (updates.length <= UPDATE_ENTRIES_MAX) return managed;
  const oldestFirst = updates.toSorted(
    ([leftId, left], [rightId, right]) =>
      compareNames(left.time ?? "", right.time ?? "") || compareNames(leftId, rightId),
  );
  const buckets = new AncientChanges(managed);
  const firstOfVersion = new Map<string, string>();
  let excess = updates.length - UPDATE_ENTRIES_MAX;
  for (const [id, entry] of oldestFirst) {
    if (excess === 0) break;
    const first = firstOfVersion.get(entry.apiVersion);
    if (first === undefined) {
      firstOfVersion.set(entry.apiVersion, id);
    } else {
      buckets.merge(first, id);
      excess--;
    }
  }
  return buckets.entries();
}

/** Entries of which old ones are put together. What they own is joined at the end, since there may be thousands. */
class AncientChanges {
  readonly #managed: Map<string, ManagedEntry>;
  /** By the id of a bucket. */
  readonly #owned = new Map<string, FieldSet[]>();

  constructor(managed: Managed) {
    this.#managed = new Map(managed);
  }

  /** Puts the entry into the bucket of its version, together with the version's oldest if the bucket is new. */
  merge(firstId: string, id: string): void {
    const managed = this.#managed;
    const entry = managed.get(id);
    if (entry === undefined) return;
    const identity = { ...entry, manager: "ancient-changes", subresource: "" };
    const bucketId = entryId(identity);
    const takesFirst = id === bucketId || !managed.has(bucketId);
    const olderId = takesFirst ? firstId : bucketId;
    const owned = this.#ownedBy(olderId);
    for (const fields of this.#ownedBy(id)) owned.push(fields);
    if (takesFirst) managed.delete(firstId);
    managed.delete(id);
    this.#owned.delete(id);
    this.#owned.set(bucketId, owned);
    managed.set(bucketId, { ...identity, source: undefined });
  }

  #ownedBy(id: string): FieldSet[] {
    const entry = this.#managed.get(id);
    return this.#owned.get(id) ?? (entry === undefined ? [] : [entry.fields]);
  }

  entries(): Managed {
    for (const [id, owned] of this.#owned) {
      const bucket = this.#managed.get(id);
      if (bucket !== undefined) this.#managed.set(id, { ...bucket, fields: unionOf(owned) });
    }
    return this.#managed;
  }
}
