/**
 * Server-side apply. The configured fields get the configured values, and the applier owns them. A field that the applier
 * configured before, and no longer does, is removed unless another manager owns it. A field that another manager owns with
 * another value is a conflict, unless the applier forces it.
 */
import { runToEnd, type YieldingWork } from "../../base/loop/yielding-work.ts";
import { badRequest } from "../errors/api-error.ts";
import { isJsonObject, type JsonObject } from "../json/json-object.ts";
import { jsonEqual } from "../patch/json-equal.ts";
import { zeroStruct } from "../schema/go-zero.ts";
import { conflictError } from "./conflict.ts";
import { findConfigMistakes } from "./fields/check-config.ts";
import { matching } from "./fields/field-pattern.ts";
import { difference, EMPTY, type FieldSet, isEmpty, recursiveDifference } from "./fields/field-set.ts";
import { merge } from "./fields/merge.ts";
import { fieldsOf } from "./fields/present-fields.ts";
import { fieldsLastApplied, withLastApplied } from "./last-applied.ts";
import {
  type Identity,
  isSameOwner,
  type Managed,
  type ManagedEntry,
  newEntry,
  orderedEntries,
  ownedBy,
  withEntry,
} from "./managed-entry.ts";
import { liveEntries, managedAfterUpdate, managedFieldsOf, withManagedFields } from "./managed-fields.ts";
import {
  type Changes,
  changesOf,
  type Conflicts,
  conflictsOf,
  effectiveChanges,
  remainingOwners,
} from "./object-update.ts";
import { prune } from "./prune.ts";
import { NEVER_OWNED, schemaOf, type Writer } from "./writer.ts";

export interface ApplyInput {
  /** The stored object in the writer's version, in normal form; `undefined` when the apply creates the object. */
  readonly live: JsonObject | undefined;
  /** The configuration as the client sent it, before defaults and normal form. */
  readonly config: JsonObject;
  readonly writer: Writer;
  /** Whether the applier takes fields over from other managers or gets a conflict. */
  readonly onConflict: "fail" | "force";
}

interface Finish {
  /**
   * Turns the merged object into the object to store: normal form, defaults, resets. The result is then compared with the
   * live object, so that another spelling of a value (`0.5` for `500m`) changes nothing.
   */
  readonly finish?: (merged: JsonObject) => JsonObject;
}

export interface ApplyResult {
  /** The live object itself when nothing changed, including managed fields. */
  readonly object: JsonObject;
  readonly isChanged: boolean;
}

/** Throws an ApiError: Conflict with one cause per field, or BadRequest when the configuration does not fit its kind. */
export function applyPatch(input: ApplyInput & Finish): ApplyResult {
  const { merged, conclude } = runToEnd(beginApply(input));
  return conclude(merged === undefined || input.finish === undefined ? merged : input.finish(merged));
}

export interface BegunApply {
  /** The live object merged with the configuration; undefined when the merge changes nothing. */
  readonly merged: JsonObject | undefined;
  /**
   * Throws the Conflict before admission or conversion see the object; a forced apply takes these fields over. `requested`
   * runs only when another manager owns a stated field: the value may differ only in spelling, and a field that the
   * endpoint does not write counts as well.
   */
  readonly checkConflicts: (requested: () => JsonObject) => void;
  /** Second half: takes the object that `merged` became and returns the object to store. */
  readonly conclude: (outcome: JsonObject | undefined) => ApplyResult;
}

/**
 * The first half of an apply, in stages: each `yield` lets the caller run other work. The caller may wait for other
 * components, such as webhooks, before it calls `conclude`.
 */
export function* beginApply(input: ApplyInput): YieldingWork<BegunApply> {
  const { live, writer, onConflict } = input;
  const schema = schemaOf(writer);
  checkConfig(input.config, writer);
  yield;
  const config = withoutSystemNulls(input.config);
  const before = withManagedFields(live ?? zeroStruct(schema), undefined);
  const managed = managedBeforeApply(before, input);
  yield;
  const applier = applierOf(managed, config, writer);
  yield;
  const { last } = applier;
  const merged = merge(before, config, schema) as JsonObject;
  yield;
  const kept = yield* withoutGivenUp(merged, managed, applier);
  yield;
  const isSame = kept === before && live !== undefined;
  const stated = changesOf({ before, after: kept, writer });
  const changesTo = (outcome: JsonObject): Changes =>
    jsonEqual(outcome, kept)
      ? stated
      : effectiveChanges(stated, changesOf({ before, after: outcome, writer }));
  const refuseIn = (changes: Changes): void => {
    if (onConflict === "fail") refuse(conflictsOf(managed, changes, last), before, writer);
  };
  let contested: Changes | undefined;
  const conclude = (outcome: JsonObject | undefined): ApplyResult => {
    const object = outcome === undefined || jsonEqual(outcome, before) ? before : outcome;
    const changes = changesTo(object);
    refuseIn(changes);
    const owners = remainingOwners(managed, contested ?? changes, last);
    const time = isSame ? last?.time : writer.now;
    const next = object === before && isRepeated(applier) ? owners : withApplier(owners, applier, time);
    const entries = orderedEntries(next, managedFieldsOf(live));
    const result = withLastApplied(object, input.config, writer);
    const isKept = entries === managedFieldsOf(live) || statesNothing(applier);
    if (live !== undefined && result === before && isKept) return { object: live, isChanged: false };
    return { object: withManagedFields(result, entries), isChanged: true };
  };
  const checkConflicts = (requested: () => JsonObject): void => {
    if (conflictsOf(managed, stated, last).size === 0) return;
    contested = changesTo(requested());
    refuseIn(contested);
  };
  return { merged: isSame ? undefined : kept, checkConflicts, conclude };
}

/** Throws the Conflict. Fields that kubectl itself set by client-side apply are no conflict. */
function refuse(conflicts: Conflicts, before: JsonObject, writer: Writer): void {
  if (conflicts.size === 0) return;
  const own = fieldsLastApplied(before, writer);
  const remaining = new Map<ManagedEntry, FieldSet>();
  for (const [entry, fields] of conflicts) {
    const others = difference(fields, own);
    if (!isEmpty(others)) remaining.set(entry, others);
  }
  if (remaining.size > 0) throw conflictError(remaining);
}

/**
 * Owners before the apply. An object without entries is first recorded as `before-first-apply`, so that its fields have an
 * owner.
 */
function managedBeforeApply(before: JsonObject, { live, writer }: ApplyInput): Managed {
  const managed = liveEntries(managedFieldsOf(live), writer.versions);
  if (live === undefined || managed.length > 0) return managed;
  const recorder = { ...writer, manager: "before-first-apply" };
  return managedAfterUpdate({ before: undefined, after: before, writer: recorder }, managed);
}

interface Applier {
  readonly writer: Writer;
  readonly identity: Identity;
  /** Fields that the configuration states. */
  readonly claimed: FieldSet;
  /** The applier's entry before this apply. */
  readonly last: ManagedEntry | undefined;
}

function applierOf(managed: Managed, config: JsonObject, writer: Writer): Applier {
  const { manager, apiVersion, subresource, resetFields = EMPTY, writes } = writer;
  const identity: Identity = { manager, operation: "Apply", apiVersion, subresource };
  const stated = recursiveDifference(fieldsOf(config, schemaOf(writer)), resetFields);
  const claimed = writes === undefined ? stated : matching(stated, writes);
  return { writer, identity, claimed, last: managed.find((entry) => isSameOwner(entry, identity)) };
}

function* withoutGivenUp(merged: JsonObject, managed: Managed, applier: Applier): YieldingWork<JsonObject> {
  const { last, claimed, writer, identity } = applier;
  if (last === undefined) return merged;
  const { apiVersion, versions, now } = writer;
  if (last.apiVersion === apiVersion && isEmpty(difference(ownedBy(last), claimed))) return merged;
  const next = withEntry(managed, newEntry(identity, now, claimed));
  return yield* prune({ merged, apiVersion, versions, last, managed: next });
}

/** Fields the applier owns after the apply; the previous set itself when it is equal. */
function ownedAfter({ claimed, last }: Applier): FieldSet {
  const owned = difference(claimed, NEVER_OWNED);
  return last !== undefined && jsonEqual(ownedBy(last), owned) ? ownedBy(last) : owned;
}

function isRepeated(applier: Applier): boolean {
  const { last, identity } = applier;
  return last?.apiVersion === identity.apiVersion && ownedAfter(applier) === ownedBy(last);
}

/** True for a first apply that takes no field. It does not record the previous owners either. */
function statesNothing(applier: Applier): boolean {
  return applier.last === undefined && isEmpty(ownedAfter(applier));
}

/**
 * As upstream, the time is that of the applier's last change. An applier that has only stated existing values has no time.
 */
function withApplier(owners: Managed, applier: Applier, time: string | undefined): Managed {
  return withEntry(owners, newEntry(applier.identity, time, ownedAfter(applier)));
}

/** Throws BadRequest unless every field is in the schema, whatever the `fieldValidation` of the request. */
export function checkConfig(config: JsonObject, writer: Writer): void {
  const { apiVersion, kind } = writer;
  if (config.apiVersion !== apiVersion || config.kind !== kind) {
    throw badRequest(`invalid object type: ${typeText(config.apiVersion, config.kind)}`);
  }
  if ((managedFieldsOf(config) ?? null) !== null) throw badRequest("metadata.managedFields must be nil");
  const mistakes = findConfigMistakes(config, schemaOf(writer));
  if (mistakes === undefined) return;
  throw badRequest(`failed to create typed patch object (${objectText(config)}): ${mistakes}`);
}

/** Type as Go prints it: `apps/v1, Kind=Deployment`, and `/v1, Kind=Pod` for the core group. */
function typeText(apiVersion: unknown, kind: unknown): string {
  const version = typeof apiVersion === "string" ? apiVersion : "";
  return `${version.includes("/") ? version : `/${version}`}, Kind=${typeof kind === "string" ? kind : ""}`;
}

function objectText({ apiVersion, kind, metadata }: JsonObject): string {
  const { namespace = "", name = "" } = isJsonObject(metadata) ? metadata : {};
  return `${String(namespace as string)}/${String(name as string)}; ${typeText(apiVersion, kind)}`;
}

/** Metadata fields for which `null` states an empty value. An empty name is refused later. */
const EMPTY_WHEN_NULL: ReadonlySet<string> = new Set([
  "annotations",
  "finalizers",
  "labels",
  "name",
  "ownerReferences",
]);

/** Drops other nulls in metadata. Generators write `creationTimestamp: null`, which would remove the live value. */
function withoutSystemNulls(config: JsonObject): JsonObject {
  const { metadata } = config;
  if (!isJsonObject(metadata)) return config;
  const members = Object.entries(metadata);
  const kept = members.filter(([key, value]) => value !== null || EMPTY_WHEN_NULL.has(key));
  return kept.length === members.length ? config : { ...config, metadata: Object.fromEntries(kept) };
}
