/** Answers requests for `causes.setpoint.dev` from the journal and the history. */
import type { Change, ChangeList } from "../../../api/causes/change.ts";
import { badRequest, forbidden, isApiError, methodNotSupported } from "../../../api/errors/api-error.ts";
import { fieldsMatch, requiredFieldValue } from "../../../api/selectors/field-selector.ts";
import { labelsMatch } from "../../../api/selectors/label-selector.ts";
import type { Loop } from "../../../base/loop/loop.ts";
import type { ApiObject } from "../../../resources/rules/kind-rules.ts";
import type { Entry, PastChange, Store } from "../../../store/store.ts";
import type { Authorizer } from "../../access/authz/authorizer.ts";
import type { Resource } from "../../objects/registry.ts";
import { StoredObject } from "../../objects/stored-object.ts";
import type { Versions } from "../../objects/versions.ts";
import { keyOf } from "../../objects/versions.ts";
import type { Answer } from "../../request/answer.ts";
import type { Call } from "../../request/call.ts";
import type { Journal, JournalEntry } from "../../write/journal.ts";
import { listOptionsOf } from "../read/list-options.ts";
import type { ListOptions } from "../read/list-options.ts";
import { changeName, changeObject } from "./change-object.ts";
import type { ChangeStates } from "./change-object.ts";
import { ChangePage } from "./change-page.ts";
import type { KeyPlace, KeyPlaces } from "./key-places.ts";
import { findChange, pastOfKey } from "./past-of-key.ts";
import type { PastWrite } from "./past-of-key.ts";
import { ReadableObjects } from "./readable-objects.ts";

/** Length of a step. */
const STEP_MS = 5;

export interface CausesParts {
  readonly loop: Loop;
  readonly store: Store;
  readonly journal: Journal;
  readonly places: KeyPlaces;
  readonly versions: Versions;
  readonly authorizer: Authorizer;
}

export async function listChanges(call: Call<Resource>, parts: CausesParts): Promise<Answer> {
  const { facts, apiVersion } = call.resource;
  if (call.info.verb !== "list")
    throw methodNotSupported({ group: facts.group, resource: facts.name }, call.info.verb);
  const options = listOptionsOf(call.query, facts, "list");
  const { places, authorizer, journal } = parts;
  const readable = new ReadableObjects({ authorizer, places, user: call.user });
  const reading = { call, options, parts, readable, next: breaks(parts.loop) };
  const { items, cut, next } = isAboutObject(options) ? await ofObject(reading) : await ofAll(reading);
  const list: ChangeList = {
    metadata: { ...(next !== undefined && { continue: next }) },
    items,
    ...(cut !== undefined && { cut }),
    authorsSince: String(journal.floor),
  };
  return {
    type: "object",
    code: 200,
    object: { apiVersion, kind: `${facts.kind}List`, ...list } as ApiObject,
  };
}

interface Reading {
  readonly call: Call;
  readonly options: ListOptions;
  readonly parts: CausesParts;
  readonly readable: ReadableObjects;
  /** Lets other steps run when this one has run long. */
  readonly next: () => Promise<void>;
}

interface Found {
  readonly items: readonly Change[];
  readonly cut?: string | undefined;
  /** Continue token. */
  readonly next?: string | undefined;
}

function isAboutObject({ fields }: ListOptions): boolean {
  return requiredFieldValue(fields, "object.name") !== undefined;
}

async function ofObject(reading: Reading): Promise<Found> {
  const { options, parts, next } = reading;
  const place = placeOf(reading);
  await requireReadable(place, reading);
  const key = keyOf(place.resource, place.namespace, place.name);
  const revision = requiredRevision(options);
  const writes = revision === undefined ? pastOfKey(parts, key) : writeAt(parts, key, revision);
  const page = new ChangePage(options.limit);
  for (;;) {
    const write = await writes.next();
    if (write.done === true) return { items: page.items.toReversed(), cut: cutText(write.value) };
    if (page.isFull) return { items: page.items.toReversed(), cut: "older changes are beyond the limit" };
    if (selects(options, place, write.value.revision)) page.add(await changeOf(place, write.value, reading));
    await next();
  }
}

function cutText(cut: "whole" | "history"): string | undefined {
  return cut === "history" ? "the history no longer reaches further back" : undefined;
}

/** The write of a key at a revision, if it is remembered. */
async function* writeAt(
  parts: CausesParts,
  key: string,
  revision: number,
): AsyncGenerator<PastWrite, "whole"> {
  const found = parts.journal.findByRevision(revision);
  const entry = found?.keys.includes(key) === true ? found : undefined;
  const change = await findChange(parts, revision, key);
  if (entry !== undefined || change !== undefined) yield { revision, entry, change };
  return "whole";
}

/** Journalled changes of all objects in the namespace that the user may read, oldest first. */
async function ofAll({ call, options, ...reading }: Reading): Promise<Found> {
  const { parts, readable, next } = reading;
  const page = new ChangePage(options.limit);
  let seen = continuedAfter(options);
  for (const entry of entriesAfter(seen, options, parts.journal)) {
    if (page.isFull) return { items: page.items, next: String(seen) };
    for (const key of entry.keys) {
      const place = parts.places.findPlace(key);
      if (place === undefined || !isIn(place, call.info.namespace)) continue;
      if (!selects(options, place, entry.revision) || !(await readable.mayRead(place))) continue;
      const change = await findChange(parts, entry.revision, key);
      page.add(await changeOf(place, { revision: entry.revision, entry, change }, reading));
    }
    seen = entry.revision;
    await next();
  }
  return { items: page.items };
}

function entriesAfter(seen: number, options: ListOptions, journal: Journal): readonly JournalEntry[] {
  const revision = requiredRevision(options);
  if (revision === undefined) return [...journal.since(seen)];
  const entry = journal.findByRevision(revision);
  return entry === undefined || revision <= seen ? [] : [entry];
}

function isIn({ namespace }: KeyPlace, asked: string): boolean {
  return asked === "" || namespace === asked;
}

/** Changes have no labels. */
function selects(
  { fields, labels }: ListOptions,
  { resource, name, namespace }: KeyPlace,
  at: number,
): boolean {
  const { group, kind } = resource.facts;
  const values = new Map([
    ["object.group", group],
    ["object.kind", kind],
    ["object.name", name],
    ["revision", String(at)],
    ["metadata.name", changeName(name, at)],
    ["metadata.namespace", namespace],
  ]);
  return labelsMatch(labels) && fieldsMatch(fields, (field) => values.get(field) ?? "");
}

async function changeOf(
  place: KeyPlace,
  { revision, entry, change }: PastWrite,
  { parts, readable }: Pick<Reading, "parts" | "readable">,
): Promise<Change> {
  const states = change === undefined ? undefined : await findStates(change, place, parts.versions);
  const time = change?.time ?? entry?.at;
  const ofPass = entry === undefined ? [] : parts.journal.ofPass(entry);
  const made = await changeObject({ place, revision, time, entry, states, ofPass }, readable);
  if (change !== undefined) releasePast(change, parts.store);
  return made;
}

/** The continue token is the last revision of the previous page. */
function continuedAfter({ continueToken }: ListOptions): number {
  if (continueToken === "") return 0;
  if (!/^\d{1,15}$/.test(continueToken)) throw badRequest("continue key is not valid");
  return Number(continueToken);
}

function requiredRevision({ fields }: ListOptions): number | undefined {
  const text = requiredFieldValue(fields, "revision");
  if (text === undefined) return undefined;
  if (!/^[1-9]\d{0,14}$/.test(text)) throw badRequest("revision must be a positive number");
  return Number(text);
}

function placeOf({ call, options, parts }: Reading): KeyPlace {
  const of = (field: string): string => requiredFieldValue(options.fields, field) ?? "";
  const [group, kind, name] = [of("object.group"), of("object.kind"), of("object.name")];
  const resource = parts.places.findKind(group, kind);
  if (resource === undefined) {
    throw badRequest(
      `no stored kind is named "${kind}" in the group "${group}": set object.kind and object.group`,
    );
  }
  const { namespaced } = resource.facts;
  const { namespace } = call.info;
  if (namespaced !== (namespace !== "")) {
    throw badRequest(
      namespaced
        ? `a ${kind} has a namespace: ask below /namespaces/NAMESPACE/changes`
        : `a ${kind} has no namespace: ask without one`,
    );
  }
  return { resource, namespace, name };
}

async function requireReadable(place: KeyPlace, { call, readable }: Reading): Promise<void> {
  if (await readable.mayRead(place)) return;
  const { group, name: resource } = place.resource.facts;
  throw forbidden(
    { group, resource },
    place.name,
    `User "${call.user.name}" cannot get it, and so may not see its changes`,
  );
}

/** Undefined for a value that cannot be read or converted: it affects its own change only. */
async function findStates(
  { before, after }: PastChange,
  { resource }: KeyPlace,
  versions: Versions,
): Promise<ChangeStates | undefined> {
  const shown = (entry: Entry | undefined): ApiObject | undefined =>
    entry === undefined ? undefined : versions.entry(entry, resource);
  try {
    const stored = [before, after].flatMap((entry) => (entry === undefined ? [] : [StoredObject.of(entry)]));
    await versions.readyToShow(stored, resource);
    return { before: shown(before), after: shown(after) };
  } catch (error) {
    if (isApiError(error)) return undefined;
    throw error;
  }
}

/** The history keeps bytes: states that were decoded for a change are dropped again. */
function releasePast({ key, before, after }: PastChange, { view }: Store): void {
  for (const entry of [before, after])
    if (entry?.slot instanceof StoredObject && view.get(key) !== entry) entry.slot.release();
}

/** Resolves in a later step when the current one has run long, otherwise at once. */
function breaks(loop: Loop): () => Promise<void> {
  let since = loop.elapsed();
  return async () => {
    if (loop.elapsed() - since < STEP_MS) return;
    await new Promise<void>((resolve) => loop.post("request", resolve));
    since = loop.elapsed();
  };
}
