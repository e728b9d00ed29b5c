/** Reads one page of a list: from an index where one fits the selectors, otherwise by a scan in slices. */
import { piecesOf } from "../../../base/collections/pieces.ts";
import type { Loop } from "../../../base/loop/loop.ts";
import type { MaybePromise } from "../../../base/loop/maybe-promise.ts";
import { runInTurns } from "../../../base/loop/run-in-turns.ts";
import type { YieldingWork } from "../../../base/loop/yielding-work.ts";
import { prefixEnd } from "../../../store/store.ts";
import type { Entry, View } from "../../../store/store.ts";
import type { StoredResource } from "../../objects/registry.ts";
import type { SelectionIndexes } from "../../objects/selection/selection-indexes.ts";
import { StoredObject } from "../../objects/stored-object.ts";
import type { Versions } from "../../objects/versions.ts";
import type { ListCounts } from "./list-counts.ts";
import type { ListOptions } from "./list-options.ts";
import type { ObjectFilter } from "./object-filter.ts";
import { selectedEntries } from "./selected-entries.ts";

/** Objects to list, all of one view. */
export interface Collection {
  readonly view: View;
  readonly prefix: string;
  /** Key below the prefix at which the page begins. */
  readonly start: string;
  /** Name that the selectors require. */
  readonly name: string | undefined;
  readonly options: Pick<ListOptions, "labels" | "fields" | "limit">;
  readonly resource: StoredResource;
  /** Undefined when every object matches. */
  readonly filter: ObjectFilter | undefined;
}

export interface Page {
  readonly items: readonly StoredObject[];
  /** Start of the next page, if there is one: right behind the last key. Keys created before the next page's first object belong to it. */
  readonly next: string | undefined;
}

export interface PageParts {
  readonly loop: Loop;
  readonly indexes: SelectionIndexes;
  readonly listCounts: ListCounts;
  readonly versions: Versions;
}

/** Work of one step: a scan yields after this many objects, and sooner if they take long to read. */
const SLICE_OBJECTS = 1000;
const SLICE_MS = 5;
/** Objects between two looks at the clock. */
const CLOCK_EVERY = 50;

/** Objects that a conversion webhook gets in one call before they are filtered. */
const CONVERTED_OBJECTS = 500;

export async function readPage(collection: Collection, parts: PageParts): Promise<Page> {
  const { view, prefix, start, options, resource } = collection;
  const range = { from: prefix + start, to: prefixEnd(prefix) };
  const { entries, index } = await selectedEntries(options, { resource, view, range }, parts.indexes);
  const visits = { count: 0 };
  const page = await collected(collection, counted(entries, visits), parts);
  parts.listCounts.add(resource, { index, visited: visits.count, returned: page.items.length });
  return page;
}

function collected(
  collection: Collection,
  entries: Iterable<Entry>,
  { loop, versions }: PageParts,
): MaybePromise<Page> {
  const { resource, filter } = collection;
  const isConverted = filter !== undefined && resource.custom?.webhook !== undefined;
  if (isConverted) return collectConverted(collection, entries, { loop, versions });
  return runInTurns(collect(collection, entries, loop), loop);
}

/** Reads a page of at most one object by its key. */
export function readOne({ view, prefix, name = "", filter }: Collection): Page {
  const entry = view.get(prefix + name);
  const stored = entry === undefined ? undefined : StoredObject.of(entry);
  return { items: stored === undefined || filter?.(stored) === false ? [] : [stored], next: undefined };
}

class PageItems {
  readonly #collection: Collection;
  readonly #items: StoredObject[] = [];
  #last = "";

  constructor(collection: Collection) {
    this.#collection = collection;
  }

  /** Takes the entry if it matches. Returns the page if it was full before. */
  take(entry: Entry): Page | undefined {
    const { options, name, filter } = this.#collection;
    const { limit } = options;
    if (limit > 0 && this.#items.length === limit) return { items: this.#items, next: `${this.#last}\0` };
    if (name !== undefined && !entry.key.endsWith(`/${name}`)) return undefined;
    const stored = StoredObject.of(entry);
    if (filter !== undefined && !filter(stored)) return undefined;
    this.#items.push(stored);
    this.#last = entry.key;
    return undefined;
  }

  /** The page when there are no more entries. */
  last(): Page {
    return { items: this.#items, next: undefined };
  }
}

function* collect(collection: Collection, entries: Iterable<Entry>, loop: Loop): YieldingWork<Page> {
  const items = new PageItems(collection);
  let visited = 0;
  let since = loop.elapsed();
  for (const entry of entries) {
    visited += 1;
    if (
      visited % SLICE_OBJECTS === 0 ||
      (visited % CLOCK_EVERY === 0 && loop.elapsed() - since >= SLICE_MS)
    ) {
      yield;
      since = loop.elapsed();
    }
    const full = items.take(entry);
    if (full !== undefined) return full;
  }
  return items.last();
}

/** Selectors apply to the requested version. A piece is filtered in the step in which its conversion is complete. */
async function collectConverted(
  collection: Collection,
  entries: Iterable<Entry>,
  { loop, versions }: Pick<PageParts, "loop" | "versions">,
): Promise<Page> {
  const items = new PageItems(collection);
  for (const piece of piecesOf(entries, CONVERTED_OBJECTS)) {
    await new Promise<void>((resolve) => loop.post("request", resolve));
    const objects = piece.map((entry) => StoredObject.of(entry));
    await versions.readyToShow(objects, collection.resource);
    for (const entry of piece) {
      const full = items.take(entry);
      if (full !== undefined) return full;
    }
  }
  return items.last();
}

function* counted(entries: Iterable<Entry>, visits: { count: number }): Generator<Entry> {
  for (const entry of entries) {
    visits.count += 1;
    yield entry;
  }
}
