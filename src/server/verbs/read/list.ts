import { badRequest, expired } from "../../../api/errors/api-error.ts";
import { requiredFieldValue } from "../../../api/selectors/field-selector.ts";
import { isStoreError } from "../../../store/store-error.ts";
import type { Store, View } from "../../../store/store.ts";
import { prefixEnd } from "../../../store/store.ts";
import type { StoredResource } from "../../objects/registry.ts";
import { StoredObject } from "../../objects/stored-object.ts";
import type { Versions } from "../../objects/versions.ts";
import { prefixOf } from "../../objects/versions.ts";
import type { ListAnswer } from "../../request/answer.ts";
import type { Call } from "../../request/call.ts";
import { decodeContinue, encodeContinue } from "./continue-token.ts";
import type { ContinueToken } from "./continue-token.ts";
import { listOptionsOf } from "./list-options.ts";
import type { ListOptions } from "./list-options.ts";
import type { Collection, Page, PageParts } from "./list-page.ts";
import { readOne, readPage } from "./list-page.ts";
import { filterOf } from "./object-filter.ts";
import { reachRevision } from "./revision-wait.ts";

export interface ReadParts extends PageParts {
  readonly store: Store;
  /** Keys under a prefix with unreadable values. Lists only values that the server has tried to read. */
  readonly unreadable: (prefix: string) => readonly string[];
  /** Resolves once all objects of a resource are decoded, before one step looks at all of them. Undefined when they already are. */
  readonly readyToList: (prefix: string) => Promise<void> | undefined;
}

/**
 * Time for which a continue token keeps its revision. Later the token counts as expired, even if the revision still exists: the
 * guarantee to clients does not depend on the write rate.
 */
const CONSISTENT_MS = 5 * 60_000;

/** Lists objects. All pages of a list show one revision, whatever is written in the meantime. */
export async function list(call: Call<StoredResource>, verbParts: ReadParts): Promise<ListAnswer> {
  const { resource, info, query } = call;
  const options = withUsedLimit(listOptionsOf(query, resource.facts, "list"), resource);
  const { name, isOne } = listedName(call, options);
  const prefix = prefixOf(resource, info.namespace);
  const token = options.continueToken === "" ? undefined : decodeContinue(options.continueToken);
  const view = await viewFor({ token, options, prefix, isOne }, verbParts);
  const reading = isOne ? undefined : verbParts.readyToList(prefixOf(resource, ""));
  if (reading !== undefined) await reading;
  const filter = filterOf(options, resource, verbParts.versions);
  const since = token === undefined || token.revision < 0 ? verbParts.loop.now() : token.since;
  const collection = { view, prefix, start: token?.start ?? "", name, options, resource, filter };
  const isByKey = isOne && token === undefined;
  const page = isByKey
    ? await readByKey(collection, verbParts.versions)
    : await readPage(collection, verbParts);
  warnOfUnreadable(call, verbParts.unreadable(prefix));
  return answerOf(collection, page, since);
}

interface ListedName {
  /** Name that all listed objects have. */
  readonly name: string | undefined;
  /** Whether the list has at most one object. */
  readonly isOne: boolean;
}

/** A watch on an object's own path lists that object: `GET …/pods/a?watch` has no other form of list. */
function listedName({ info, resource }: Call<StoredResource>, { fields }: ListOptions): ListedName {
  const name = info.name === "" ? requiredFieldValue(fields, "metadata.name") : info.name;
  return { name, isOne: name !== undefined && (info.namespace !== "" || !resource.facts.namespaced) };
}

/** Warns about omitted objects, since the client may rely on each of them. */
function warnOfUnreadable({ notes }: Call<StoredResource>, keys: readonly string[]): void {
  const [first, ...others] = keys;
  if (first === undefined) return;
  const more = others.length === 0 ? "" : ` and ${String(others.length)} more`;
  notes.warn(`objects are left out whose stored values cannot be read: ${first}${more}`);
}

/**
 * Ignores the limit of a list at any revision, like kube-apiserver's watch cache. Clients rely on it, and some ignore the continue
 * token. Events do not pass through that cache.
 */
function withUsedLimit(options: ListOptions, { storage }: StoredResource): ListOptions {
  const isWhole =
    options.resourceVersion === 0 && options.continueToken === "" && storage.prefix !== "events";
  return isWhole ? { ...options, limit: 0 } : options;
}

/** Reads the only object that can match. Selectors apply to the requested version. */
async function readByKey(collection: Collection, versions: Versions): Promise<Page> {
  const { view, prefix, name = "", resource, filter } = collection;
  const entry = filter === undefined ? undefined : view.get(prefix + name);
  if (entry !== undefined) await versions.readyToShow([StoredObject.of(entry)], resource);
  return readOne(collection);
}

interface ViewRequest {
  readonly token: ContinueToken | undefined;
  readonly options: ListOptions;
  readonly prefix: string;
  /** Whether the request can match at most one object. */
  readonly isOne: boolean;
}

async function viewFor(request: ViewRequest, { store, loop }: ReadParts): Promise<View> {
  const { token, options, prefix } = request;
  if (token !== undefined) {
    if ((options.resourceVersion ?? 0) > 0)
      throw badRequest("specifying resource version is not allowed when using continue");
    if (token.revision < 0) return store.fresh();
    if (loop.now() - (token.since ?? Infinity) > CONSISTENT_MS) throw tooOld(token);
    return continued(token, () => stateAt(token.revision, prefix, { store, loop }));
  }
  const { resourceVersion } = options;
  if (resourceVersion === undefined) return store.fresh();
  const view = await reachRevision(store, loop, resourceVersion);
  if (!isExact(request)) return view;
  try {
    return await store.at(resourceVersion, prefix);
  } catch (error) {
    if (!isStoreError(error, "Compacted")) throw error;
    throw expired(`The resourceVersion for the provided list is too old.`);
  }
}

/** A limit without resourceVersionMatch means Exact, as before upstream introduced that parameter. */
function isExact({ options: { resourceVersion = 0, match, limit }, isOne }: ViewRequest): boolean {
  return match === "Exact" || (match === "" && limit > 0 && resourceVersion > 0 && !isOne);
}

/** Waits for the revision: another server that is ahead may have begun the list. */
async function stateAt(
  revision: number,
  prefix: string,
  { store, loop }: Pick<ReadParts, "store" | "loop">,
): Promise<View> {
  try {
    return await store.at(revision, prefix);
  } catch (error) {
    if (!isStoreError(error, "FutureRevision")) throw error;
  }
  await reachRevision(store, loop, revision);
  return store.at(revision, prefix);
}

async function continued(token: ContinueToken, read: () => Promise<View>): Promise<View> {
  try {
    return await read();
  } catch (error) {
    throw isStoreError(error, "Compacted") ? tooOld(token) : error;
  }
}

/** Error for an expired token. It carries a new token that continues from the same key at the newest revision. */
function tooOld({ start }: ContinueToken): Error {
  return expired(
    "The provided continue parameter is too old to display a consistent list result. You can start a new list without " +
      "the continue parameter, or use the continue token in this response to retrieve the remainder of the results. " +
      "Continuing with the provided token results in an inconsistent list - objects that were created, modified, or " +
      "deleted between the time the first chunk was returned and now may show up in the list.",
    encodeContinue({ revision: -1, start, since: undefined }),
  );
}

function answerOf(collection: Collection, { items, next }: Page, since: number | undefined): ListAnswer {
  const { view, prefix, resource, filter } = collection;
  const { revision } = view;
  const rest = next === undefined ? undefined : { revision, start: next.slice(prefix.length), since };
  return {
    type: "list",
    items,
    resource,
    resourceVersion: String(revision),
    continueToken: rest === undefined ? undefined : encodeContinue(rest),
    remainingItems:
      next === undefined || filter !== undefined ? undefined : view.count(next, prefixEnd(prefix)),
  };
}
