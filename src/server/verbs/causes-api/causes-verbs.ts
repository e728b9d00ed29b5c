/** Answers requests for `causes.setpoint.dev` from the journal and the history. */
import type { Change, ChangeList } from "../../../api/causes/change.ts";
import { badRequest, forbidden, methodNotSupported } from "../../../api/errors/api-error.ts";
import { requiredFieldValue } from "../../../api/selectors/field-selector.ts";
import type { Loop } from "../../../base/loop/loop.ts";
import type { ApiObject } from "../../../resources/rules/kind-rules.ts";
import { isStoreError } from "../../../store/store-error.ts";
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
import { changeObject } from "./change-object.ts";
import type { ChangeStates } from "./change-object.ts";
import type { KeyPlace, KeyPlaces } from "./key-places.ts";
import { pastOfKey } from "./past-of-key.ts";
import { ReadableObjects } from "./readable-objects.ts";

/** Changes in a response without a smaller limit. */
const CHANGES_MAX = 500;
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
  const { options, parts, readable, next } = reading;
  const place = placeOf(reading);
  await requireReadable(place, reading);
  const key = keyOf(place.resource, place.namespace, place.name);
  const revision = requiredFieldValue(options.fields, "revision");
  const past =
    revision === undefined ? await pastOfKey(parts, key, { limit: limitOf(options), next }) : undefined;
  const writes = past?.writes.toReversed() ?? (await singleWrite(parts, key, Number(revision)));
  const items: Change[] = [];
  for (const { revision: at, entry, change } of writes) {
    const states = change === undefined ? undefined : await statesOf(change, place, parts.versions);
    const time = change?.time ?? entry?.at;
    const ofPass = entry === undefined ? [] : parts.journal.ofPass(entry);
    items.push(await changeObject({ place, revision: at, time, entry, states, ofPass }, readable));
    await next();
  }
  return { items, cut: cutText(past?.cut) };
}

function cutText(cut: "limit" | "history" | undefined): string | undefined {
  if (cut === undefined) return undefined;
  return cut === "limit"
    ? "older changes are beyond the limit"
    : "the history no longer reaches further back";
}

async function singleWrite(
  { store, journal }: CausesParts,
  key: string,
  revision: number,
): Promise<readonly { revision: number; entry: JournalEntry | undefined; change: PastChange | undefined }[]> {
  if (!Number.isSafeInteger(revision) || revision < 1) throw badRequest("revision must be a positive number");
  const found = journal.findByRevision(revision);
  const entry = found?.keys.includes(key) === true ? found : undefined;
  const change = await findChange(store, revision, key);
  return entry === undefined && change === undefined ? [] : [{ revision, entry, change }];
}

async function findChange(store: Store, revision: number, key: string): Promise<PastChange | undefined> {
  try {
    return await store.change(revision, key);
  } catch (error) {
    if (isStoreError(error, "Compacted") || isStoreError(error, "FutureRevision")) return undefined;
    throw error;
  }
}

/** Journalled changes of all objects in the namespace that the user may read, oldest first. */
async function ofAll({ call, options, parts, readable, next }: Reading): Promise<Found> {
  const { journal, places } = parts;
  const limit = limitOf(options);
  const items: Change[] = [];
  let seen = continuedAfter(options, journal);
  for (const entry of [...journal.since(seen)]) {
    if (items.length >= limit) return { items, next: String(seen) };
    for (const key of entry.keys) {
      const place = places.findPlace(key);
      if (place === undefined || !isIn(place, call.info.namespace) || !(await readable.mayRead(place)))
        continue;
      const change = await findChange(parts.store, entry.revision, key);
      const states = change === undefined ? undefined : await statesOf(change, place, parts.versions);
      const { revision } = entry;
      // The store's time, as in the list of one object.
      const time = change?.time ?? entry.at;
      items.push(
        await changeObject({ place, revision, time, entry, states, ofPass: journal.ofPass(entry) }, readable),
      );
    }
    seen = entry.revision;
    await next();
  }
  return { items };
}

function isIn({ namespace }: KeyPlace, asked: string): boolean {
  return asked === "" || namespace === asked;
}

/** The continue token is the last revision of the previous page. */
function continuedAfter({ continueToken, fields }: ListOptions, journal: Journal): number {
  const revision = requiredFieldValue(fields, "revision");
  if (continueToken === "") return revision === undefined ? journal.floor : Number(revision) - 1;
  if (!/^\d{1,15}$/.test(continueToken)) throw badRequest("continue key is not valid");
  return Number(continueToken);
}

function limitOf({ limit, fields }: ListOptions): number {
  const asked = limit === 0 ? CHANGES_MAX : Math.min(limit, CHANGES_MAX);
  return requiredFieldValue(fields, "revision") === undefined ? asked : 1;
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

async function statesOf(
  { before, after }: PastChange,
  { resource }: KeyPlace,
  versions: Versions,
): Promise<ChangeStates> {
  const stored = [before, after].flatMap((entry) => (entry === undefined ? [] : [StoredObject.of(entry)]));
  await versions.readyToShow(stored, resource);
  const shown = (entry: Entry | undefined): ApiObject | undefined =>
    entry === undefined ? undefined : versions.entry(entry, resource);
  return { before: shown(before), after: shown(after) };
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
