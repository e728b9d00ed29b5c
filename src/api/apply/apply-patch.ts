/**
 * Server-side apply. A configuration states the fields its manager cares about: they get the values it gives, and
 * belong to it. Fields it stated before and states no more are removed unless someone else owns them. Where another
 * manager owns a field with another value there is a conflict, unless forced.
 */
import { completed, type Stages } from "../../base/loop/stages.ts";
import { badRequest } from "../errors/api-error.ts";
import { isJsonObject, type JsonObject } from "../json/json-object.ts";
import { jsonEqual } from "../patch/json-equal.ts";
import { zeroStruct } from "../schema/go-zero.ts";
import {
  type Changes,
  changesOf,
  type Conflicts,
  conflictsOf,
  effectiveChanges,
  remainingOwners,
} from "./change.ts";
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
import { prune } from "./prune.ts";
import { NEVER_OWNED, schemaOf, type Writer } from "./writer.ts";

export interface ApplyInput {
  /** The stored object in the writer's version, in normal form; `undefined` when there is none yet. */
  readonly live: JsonObject | undefined;
  /** As the client sent it: not defaulted, not in normal form. */
  readonly config: JsonObject;
  readonly writer: Writer;
  /** Whether to take fields over from others instead of reporting a conflict. */
  readonly onConflict: "fail" | "force";
}

interface Finish {
  /**
   * Makes the merged object what would be stored: normal form, defaults, resets. It is then compared with the live
   * one, so that a configuration with other words for the same (`0.5` for `500m`) changes nothing.
   */
  readonly finish?: (merged: JsonObject) => JsonObject;
}

export interface ApplyResult {
  /** The live object itself when nothing changed, managed fields included. */
  readonly object: JsonObject;
  readonly isChanged: boolean;
}

/** Throws an ApiError: Conflict with a cause for each field, or BadRequest when the configuration is no such. */
export function applyPatch(input: ApplyInput & Finish): ApplyResult {
  const { merged, conclude } = completed(beginApply(input));
  return conclude(merged === undefined || input.finish === undefined ? merged : input.finish(merged));
}

export interface BegunApply {
  /** What the configuration makes of the live object; undefined when that is no other. */
  readonly merged: JsonObject | undefined;
  /**
   * Throws the Conflict before anybody is asked about the object. What `merged` is with its defaults is only looked at where others own what it
   * states in other words.
   */
  readonly checkConflicts: (withDefaults: () => JsonObject) => void;
  /** With what `merged` became: what would be stored of it. */
  readonly conclude: (outcome: JsonObject | undefined) => ApplyResult;
}

/**
 * The first half of an apply, in stages: it yields where the caller may let others run. A caller who has to ask others what
 * becomes of the merged object may take as long before the second half, `conclude`.
 */
export function* beginApply(input: ApplyInput): Stages<BegunApply> {
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
  const conclude = (outcome: JsonObject | undefined): ApplyResult => {
    const object = outcome === undefined || jsonEqual(outcome, before) ? before : outcome;
    const changes = changesTo(object);
    refuseIn(changes);
    const owners = remainingOwners(managed, changes, last);
    const time = isSame ? last?.time : writer.now;
    const next = object === before && isRepeated(applier) ? owners : withApplier(owners, applier, time);
    const entries = orderedEntries(next, managedFieldsOf(live));
    const result = withLastApplied(object, input.config, writer);
    const isKept = entries === managedFieldsOf(live) || statesNothing(applier);
    if (live !== undefined && result === before && isKept) return { object: live, isChanged: false };
    return { object: withManagedFields(result, entries), isChanged: true };
  };
  const checkConflicts = (withDefaults: () => JsonObject): void => {
    if (onConflict === "fail" && conflictsOf(managed, stated, last).size > 0)
      refuseIn(changesTo(withDefaults()));
  };
  return { merged: isSame ? undefined : kept, checkConflicts, conclude };
}

/** Fields that the applier itself set by other means are no conflict. */
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

/** An object that was never tracked is first recorded as it is, or nobody would own what the applier changes. */
function managedBeforeApply(before: JsonObject, { live, writer }: ApplyInput): Managed {
  const managed = liveEntries(managedFieldsOf(live), writer.versions);
  if (live === undefined || managed.length > 0) return managed;
  const recorder = { ...writer, manager: "before-first-apply" };
  return managedAfterUpdate({ before: undefined, after: before, writer: recorder }, managed);
}

interface Applier {
  readonly writer: Writer;
  readonly identity: Identity;
  /** What the configuration states. */
  readonly claimed: FieldSet;
  /** What the applier had before. */
  readonly last: ManagedEntry | undefined;
}

function applierOf(managed: Managed, config: JsonObject, writer: Writer): Applier {
  const { manager, apiVersion, subresource, resetFields = EMPTY, writes } = writer;
  const identity: Identity = { manager, operation: "Apply", apiVersion, subresource };
  const stated = recursiveDifference(fieldsOf(config, schemaOf(writer)), resetFields);
  const claimed = writes === undefined ? stated : matching(stated, writes);
  return { writer, identity, claimed, last: managed.find((entry) => isSameOwner(entry, identity)) };
}

function* withoutGivenUp(merged: JsonObject, managed: Managed, applier: Applier): Stages<JsonObject> {
  const { last, claimed, writer, identity } = applier;
  if (last === undefined) return merged;
  const { apiVersion, versions, now } = writer;
  if (last.apiVersion === apiVersion && isEmpty(difference(ownedBy(last), claimed))) return merged;
  const next = withEntry(managed, newEntry(identity, now, claimed));
  return yield* prune({ merged, apiVersion, versions, last, managed: next });
}

/** The set the applier had, when it is the same. */
function ownedAfter({ claimed, last }: Applier): FieldSet {
  const owned = difference(claimed, NEVER_OWNED);
  return last !== undefined && jsonEqual(ownedBy(last), owned) ? ownedBy(last) : owned;
}

function isRepeated(applier: Applier): boolean {
  const { last, identity } = applier;
  return last?.apiVersion === identity.apiVersion && ownedAfter(applier) === ownedBy(last);
}

/** An apply that takes no field does not record who owned the fields before it. */
function statesNothing(applier: Applier): boolean {
  return applier.last === undefined && isEmpty(ownedAfter(applier));
}

/** As upstream, the time says when the applier last changed the object: who only states what is there already has none at first. */
function withApplier(owners: Managed, applier: Applier, time: string | undefined): Managed {
  return withEntry(owners, newEntry(applier.identity, time, ownedAfter(applier)));
}

/** Refuses what is no configuration of its kind: every field has to be one of the schema, whatever the client asked for. */
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

/** As Go prints it: `apps/v1, Kind=Deployment`, and `/v1, Kind=Pod` for the core group. */
function typeText(apiVersion: unknown, kind: unknown): string {
  const version = typeof apiVersion === "string" ? apiVersion : "";
  return `${version.includes("/") ? version : `/${version}`}, Kind=${typeof kind === "string" ? kind : ""}`;
}

function objectText({ apiVersion, kind, metadata }: JsonObject): string {
  const { namespace = "", name = "" } = isJsonObject(metadata) ? metadata : {};
  return `${String(namespace as string)}/${String(name as string)}; ${typeText(apiVersion, kind)}`;
}

/** Fields of metadata that an applier owns by stating `null`, as it owns an empty one. */
const OWNED_WHEN_NULL: ReadonlySet<string> = new Set([
  "annotations",
  "finalizers",
  "labels",
  "ownerReferences",
]);

/** Generators write `creationTimestamp: null`, which would otherwise take the live one away. */
function withoutSystemNulls(config: JsonObject): JsonObject {
  const { metadata } = config;
  if (!isJsonObject(metadata)) return config;
  const members = Object.entries(metadata);
  const kept = members.filter(([key, value]) => value !== null || OWNED_WHEN_NULL.has(key));
  return kept.length === members.length ? config : { ...config, metadata: Object.fromEntries(kept) };
}
