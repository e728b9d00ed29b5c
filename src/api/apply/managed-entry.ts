/** The entries of `metadata.managedFields`: each manager's fields, by kind of write. */
import { isJsonObject, type JsonObject } from "../json/json-object.ts";
import { stringifyJson } from "../json/json-text.ts";
import { compareNames } from "../schema/schema.ts";
import { quoted } from "../values/message-text.ts";
import { EMPTY, type FieldSet, isEmpty, parseFieldSet, unionOf } from "./fields/field-set.ts";
import { setText, sharedSet } from "./fields/shared-set.ts";

export type Operation = "Apply" | "Update";

/** An entry as in the API. Its keys are in the order of the normal form, so an unchanged entry is written back as it is. */
export interface ManagedEntry {
  readonly apiVersion: string;
  readonly fieldsType: typeof FIELDS_TYPE;
  readonly fieldsV1?: FieldSet;
  readonly manager?: string;
  readonly operation: Operation;
  /** Absent or empty for the main resource. */
  readonly subresource?: string;
  /** Time in whole seconds: `2026-11-15T05:00:00Z`. */
  readonly time?: string;
}

const FIELDS_TYPE = "FieldsV1";

/** Entries in any order, with unique identities. */
export type Managed = readonly ManagedEntry[];

/** Upstream's bound on entries of updates; the oldest beyond it are merged. */
const UPDATE_ENTRIES_MAX = 10;

/** Identity of an entry. An applier has one entry for all versions. */
export type Identity = Pick<ManagedEntry, "manager" | "operation" | "apiVersion" | "subresource">;

export function isSameOwner(left: Identity, right: Identity): boolean {
  return (
    left.operation === right.operation &&
    (left.manager ?? "") === (right.manager ?? "") &&
    (left.subresource ?? "") === (right.subresource ?? "") &&
    (left.operation === "Apply" || left.apiVersion === right.apiVersion)
  );
}

/** The identity as a text. Conflicts are listed in the order of these texts. */
export function entryId({ manager = "", operation, apiVersion, subresource = "" }: Identity): string {
  const version = operation === "Apply" ? "" : `,"apiVersion":${JSON.stringify(apiVersion)}`;
  const part = subresource === "" ? "" : `,"subresource":${JSON.stringify(subresource)}`;
  return `{"manager":${JSON.stringify(manager)},"operation":"${operation}"${version}${part}}`;
}

export function ownedBy(entry: ManagedEntry): FieldSet {
  return entry.fieldsV1 ?? EMPTY;
}

/** Makes an entry. Members are assigned one by one because spreading an object and adding to it is slower. */
export function newEntry(identity: Identity, time: string | undefined, fields: FieldSet): ManagedEntry {
  const { apiVersion, manager = "", operation, subresource = "" } = identity;
  const entry: { -readonly [K in keyof ManagedEntry]: ManagedEntry[K] } = {
    apiVersion,
    fieldsType: FIELDS_TYPE,
    fieldsV1: sharedSet(fields),
    manager,
    operation,
  };
  if (subresource !== "") entry.subresource = subresource;
  if (time !== undefined) entry.time = time;
  return entry;
}

/**
 * Entries of a stored object, which were checked when written. Throws an Error with upstream's text when one is malformed.
 */
export function storedEntries(entries: unknown): Managed {
  if (!Array.isArray(entries)) return [];
  return entries.every(isEntry) ? entries : sentEntries(entries);
}

function isEntry(entry: unknown): entry is ManagedEntry {
  if (!isJsonObject(entry)) return false;
  const { apiVersion, fieldsType, manager, operation, subresource, time } = entry;
  return (
    fieldsType === FIELDS_TYPE &&
    (operation === "Update" || operation === "Apply") &&
    typeof apiVersion === "string" &&
    apiVersion !== "" &&
    isOptionalText(manager) &&
    isOptionalText(subresource) &&
    isOptionalText(time)
  );
}

function isOptionalText(value: unknown): boolean {
  return value === undefined || typeof value === "string";
}

/** Entries that a client sent, in canonical form. Throws an Error with upstream's text when one is malformed. */
export function sentEntries(entries: unknown): Managed {
  const managed = new Map<string, ManagedEntry>();
  if (!Array.isArray(entries)) return [];
  for (const [at, source] of entries.entries()) {
    const entry = decodeEntry(source, at);
    managed.set(entryId(entry), entry);
  }
  return [...managed.values()];
}

function decodeEntry(source: unknown, at: number): ManagedEntry {
  const entry = isJsonObject(source) ? source : {};
  const operation = textMember(entry, "operation");
  if (operation !== "Apply" && operation !== "Update")
    throw new Error("operation must be `Apply` or `Update`");
  const apiVersion = textMember(entry, "apiVersion");
  if (apiVersion === "") throw new Error("apiVersion must not be empty");
  checkFieldsType(textMember(entry, "fieldsType"), at);
  const manager = textMember(entry, "manager");
  const subresource = textMember(entry, "subresource");
  const time = textMember(entry, "time") || undefined;
  const fields = parseFieldSet(entry.fieldsV1 ?? EMPTY);
  return newEntry({ manager, operation, apiVersion, subresource }, time, fields);
}

function checkFieldsType(type: string, at: number): void {
  if (type === FIELDS_TYPE) return;
  if (type === "") throw new Error(`missing fieldsType in managed fields entry ${at}`);
  throw new Error(`invalid fieldsType ${quoted(type)} in managed fields entry ${at}`);
}

function textMember(entry: JsonObject, name: string): string {
  const value = entry[name];
  return typeof value === "string" ? value : "";
}

/**
 * The entries in upstream's order; `undefined` when there are none. Returns `previous` itself when equal, so that an
 * unchanged object keeps its identity.
 */
export function orderedEntries(managed: Managed, previous: unknown): Managed | undefined {
  if (managed === previous || managed.length === 0) return managed.length === 0 ? undefined : managed;
  const ordered = isInOrder(managed) ? managed : managed.toSorted(compareEntries);
  const isSame =
    Array.isArray(previous) &&
    previous.length === ordered.length &&
    ordered.every((entry, at) => entry === previous[at]);
  return isSame ? (previous as Managed) : ordered;
}

function isInOrder(managed: Managed): boolean {
  return managed.every((entry, at) => at === 0 || compareEntries(managed[at - 1] ?? entry, entry) <= 0);
}

/** JSON of the entries of an object in normal form. Shared sets reuse their known text. */
export function entriesText(entries: unknown): string {
  if (!Array.isArray(entries)) return stringifyJson(entries);
  let text = "";
  for (const entry of entries) text += `${text === "" ? "" : ","}${entryText(entry)}`;
  return `[${text}]`;
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
    compareNames(left.manager ?? "", right.manager ?? "") ||
    compareNames(left.apiVersion, right.apiVersion) ||
    compareNames(left.subresource ?? "", right.subresource ?? "")
  );
}

/** The entry with these fields; the entry itself when it already has them. */
export function withFields(entry: ManagedEntry, fields: FieldSet): ManagedEntry {
  return fields === entry.fieldsV1 ? entry : newEntry(entry, entry.time, fields);
}

/** The entries with this entry in place of its owner's old one, or without it when it owns nothing. */
export function withEntry(managed: Managed, entry: ManagedEntry): Managed {
  const changed = managed.filter((other) => !isSameOwner(other, entry));
  if (!isEmpty(ownedBy(entry))) changed.push(entry);
  return changed;
}

/**
 * Bounds the entries of updates to ten. Beyond that, the oldest entries of each version merge into one, `ancient-changes`,
 * with the newest of their times.
 */
export function capUpdates(managed: Managed): Managed {
  if (managed.length <= UPDATE_ENTRIES_MAX) return managed;
  const byId = new Map(managed.map((entry) => [entryId(entry), entry]));
  const updates = [...byId].filter(([, { operation }]) => operation === "Update");
  if (updates.length <= UPDATE_ENTRIES_MAX) return managed;
  const oldestFirst = updates.toSorted(
    ([leftId, left], [rightId, right]) =>
      compareNames(left.time ?? "", right.time ?? "") || compareNames(leftId, rightId),
  );
  const buckets = new AncientChanges(byId);
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

/** Merges old entries. The owned sets are joined once at the end, because there may be thousands of entries. */
class AncientChanges {
  readonly #managed: Map<string, ManagedEntry>;
  /** Sets to join, by bucket id. */
  readonly #owned = new Map<string, FieldSet[]>();

  constructor(managed: Map<string, ManagedEntry>) {
    this.#managed = managed;
  }

  /** Moves the entry into the bucket of its version. A new bucket also takes the version's oldest entry. */
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
    managed.set(bucketId, identity);
  }

  #ownedBy(id: string): FieldSet[] {
    const entry = this.#managed.get(id);
    return this.#owned.get(id) ?? (entry === undefined ? [] : [ownedBy(entry)]);
  }

  entries(): Managed {
    for (const [id, owned] of this.#owned) {
      const bucket = this.#managed.get(id);
      if (bucket !== undefined) this.#managed.set(id, newEntry(bucket, bucket.time, unionOf(owned)));
    }
    return [...this.#managed.values()];
  }
}
