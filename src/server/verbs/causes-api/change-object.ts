/** Makes a `Change` of a journalled write and the states before and after it. */
import type { ApiObject } from "../../../api/api-object.ts";
import { parseCause } from "../../../api/causes/cause-text.ts";
import type { Cause } from "../../../api/causes/cause.ts";
import { CAUSES_VERSION } from "../../../api/causes/change.ts";
import type {
  Change,
  ChangeAuthor,
  ChangePass,
  ChangeReason,
  PassWrite,
  ShownFieldChange,
} from "../../../api/causes/change.ts";
import { fieldChanges } from "../../../api/causes/field-changes.ts";
import type { FieldChange } from "../../../api/causes/field-changes.ts";
import type { ManagedFieldsEntry } from "../../../api/generated/types/meta-v1.ts";
import { stringifyJson } from "../../../api/json/json-text.ts";
import { microTimeText } from "../../../api/values/time.ts";
import type { JournalEntry } from "../../write/journal.ts";
import type { KeyPlace } from "./key-places.ts";
import { referenceTo } from "./readable-objects.ts";
import type { ReadableObjects } from "./readable-objects.ts";

/** Larger changes lose their last fields. */
const FIELDS_MAX = 64;
const VALUE_LENGTH_MAX = 1024;
const OTHER_WRITES_MAX = 16;
/** A client may state more; each costs a decision of the authorizers. */
const REASONS_MAX = 8;

/** Objects before and after a write. */
export interface ChangeStates {
  readonly before: ApiObject | undefined;
  readonly after: ApiObject | undefined;
}

export interface KnownChange {
  readonly place: KeyPlace;
  readonly revision: number;
  /** Milliseconds since the epoch. */
  readonly time: number | undefined;
  /** Undefined when this server does not remember the request. */
  readonly entry: JournalEntry | undefined;
  /** Undefined when the history does not reach back. */
  readonly states: ChangeStates | undefined;
  /** Writes of the same pass. */
  readonly ofPass: readonly JournalEntry[];
}

export async function changeObject(change: KnownChange, readable: ReadableObjects): Promise<Change> {
  const { place, revision, time, entry, states } = change;
  const shown = states?.after ?? states?.before;
  const author = authorOf(entry, states);
  const pass = await passOf(change, readable);
  const uid = shown?.metadata.uid;
  return {
    apiVersion: CAUSES_VERSION,
    kind: "Change",
    metadata: {
      name: changeName(place.name, revision),
      ...(place.namespace !== "" && { namespace: place.namespace }),
    },
    revision: String(revision),
    ...(time !== undefined && { time: microTimeText(time) }),
    operation: operationOf(change),
    object: { ...referenceTo(place), ...(uid !== undefined && { uid }) },
    ...(author !== undefined && { author }),
    ...(pass !== undefined && { pass }),
    ...(states !== undefined && { fields: shownFields(states, place) }),
  };
}

/** Name of a change: that of its object, with the revision. */
export function changeName(objectName: string, revision: number): string {
  return `${objectName}.${String(revision)}`;
}

function operationOf({ states }: KnownChange): Change["operation"] {
  if (states === undefined) return "Updated";
  if (states.before === undefined) return "Created";
  return states.after === undefined ? "Deleted" : "Updated";
}

function authorOf(
  entry: JournalEntry | undefined,
  states: ChangeStates | undefined,
): ChangeAuthor | undefined {
  if (entry !== undefined) {
    const { user, manager, userAgent, command, auditId } = entry;
    return {
      user,
      manager,
      userAgent,
      ...(command !== undefined && { command }),
      ...(auditId !== undefined && { auditId }),
    };
  }
  const manager = states === undefined ? undefined : findManager(states);
  return manager === undefined ? undefined : { manager };
}

/**
 * The manager whose entry of the managed fields is new or has a new time. Entries that only lose fields to it keep their
 * time. Within a second a repeated write keeps its time too: then any changed entry counts.
 */
function findManager({ before, after }: ChangeStates): string | undefined {
  const known = before?.metadata.managedFields ?? [];
  const entries = after?.metadata.managedFields ?? [];
  const [writes, texts] = [new Set(known.map(writeOf)), new Set(known.map(stringifyJson))];
  const written = entries.filter((entry) => !writes.has(writeOf(entry)));
  const changed = entries.filter((entry) => !texts.has(stringifyJson(entry)));
  return newestOf(written) ?? newestOf(changed);
}

/** Equal for the entries of one write. */
function writeOf({ manager, operation, subresource, time }: ManagedFieldsEntry): string {
  return stringifyJson([manager, operation, subresource, time]);
}

function newestOf(entries: readonly ManagedFieldsEntry[]): string | undefined {
  let newest = entries[0];
  for (const entry of entries) if ((entry.time ?? "") > (newest?.time ?? "")) newest = entry;
  return newest?.manager;
}

function shownFields(states: ChangeStates, { resource: { facts } }: KeyPlace): readonly ShownFieldChange[] {
  const isSecret = facts.group === "" && facts.name === "secrets";
  return fieldChanges(states.before, states.after, FIELDS_MAX).map((change) =>
    isSecret ? withheld(change, "Secret") : isLarge(change) ? withheld(change, "Large") : change,
  );
}

function isLarge({ before, after }: FieldChange): boolean {
  return [before, after].some(
    (value) => value !== undefined && stringifyJson(value).length > VALUE_LENGTH_MAX,
  );
}

function withheld({ path }: FieldChange, why: "Secret" | "Large"): ShownFieldChange {
  return { path, withheld: why };
}

async function passOf(
  { entry, ofPass }: KnownChange,
  readable: ReadableObjects,
): Promise<ChangePass | undefined> {
  if (entry?.cause === undefined) return undefined;
  const { pass, subject, note, kept, count } = parseCause(entry.cause);
  const shownSubject = subject === undefined ? undefined : await readable.ofName(subject);
  // A note may tell about an object that the user may not read.
  const isNoteShown = shownSubject === undefined || !("hidden" in shownSubject);
  const others = ofPass.filter(({ revision }) => revision !== entry.revision);
  const otherWrites: PassWrite[] = [];
  for (const { revision, keys } of others.slice(0, OTHER_WRITES_MAX)) {
    const object = await readable.ofKey(keys[0] ?? "");
    if (object !== undefined) otherWrites.push({ revision: String(revision), object });
  }
  const reasons: ChangeReason[] = [];
  for (const cause of kept.slice(0, REASONS_MAX)) reasons.push(await reasonOf(cause, readable));
  return {
    id: pass,
    ...(shownSubject !== undefined && { subject: shownSubject }),
    ...(note !== undefined && isNoteShown && { note }),
    reasons,
    reasonCount: count,
    otherWrites,
    otherWriteCount: others.length,
  };
}

async function reasonOf(cause: Cause, readable: ReadableObjects): Promise<ChangeReason> {
  switch (cause.type) {
    case "timer":
      return { type: "Timer" };
    case "resync":
      return { type: "Resync" };
    case "retry":
      return { type: "Retry", attempt: cause.attempt };
    case "object": {
      const object = await readable.ofName(cause);
      if ("hidden" in object) return { type: "Object", object };
      const { resourceVersion, isGone } = cause;
      return { type: "Object", object, resourceVersion, ...(isGone === true && { deleted: true }) };
    }
  }
}
