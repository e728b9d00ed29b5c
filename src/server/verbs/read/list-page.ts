/** Reads one page of a list: from an index where one fits the selectors, otherwise by a scan in slices. */
import type { Loop } from "../../../base/loop/loop.ts";
import { runInTurns } from "../../../base/loop/run-in-turns.ts";
import { prefixEnd } from "../../../store/store.ts";
import type { Entry, View } from "../../../store/store.ts";
import type { StoredResource } from "../../objects/registry.ts";
import type { SelectionIndexes } from "../../objects/selection/selection-indexes.ts";
import { StoredObject } from "../../objects/stored-object.ts";
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
}

/** Work of one step: a scan yields after this many objects, and sooner if they take long to read. */
const SLICE_OBJECTS = 1000;
const SLICE_MS = 5;
/** Objects between two looks at the clock. */
const CLOCK_EVERY = 50;

export async function readPage(collection: Collection, parts: PageParts): Promise<Page> {
  const { view, prefix, start, options, resource } = collection;
  const range = { from: prefix + start, to: prefixEnd(prefix) };
  const { entries, index } = await selectedEntries(options, { resource, view, range }, parts.indexes);
  const visits = { count: 0 };
  const page = await runInTurns(collect(collection, counted(entries, visits), parts.loop), parts.loop);
  parts.listCounts.add(resource, { index, visited: visits.count, returned: page.items.length });
  return page;
}

/** Reads a page of at most one object by its key. */
export function readOne({ view, prefix, name = "", filter }: Collection): Page {
  const entry = view.get(prefix + name);
  const stored = entry === undefined ? undefined : StoredObject.of(entry);
  return { items: stored === undefined || filter?.(stored) === false ? [] : [stored], next: undefined };
}

function* collect(
  { options: { limit }, name, filter }: Collection,
  entries: Iterable<Entry>,
  loop: Loop,
): Generator<undefined, Page> {
  const items: StoredObject[] = [];
  let last = "";
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
    if (limit > 0 && items.length === limit) return { items, next: `${last}\0` };
    if (name !== undefined && !entry.key.endsWith(`/${name}`)) continue;
    const stored = StoredObject.of(entry);
    if (filter !== undefined && !filter(stored)) continue;
    items.push(stored);
    last = entry.key;
  }
  return { items, next: undefined };
}

function* counted(entries: Iterable<Entry>, visits: { count: number }): Generator<Entry> {
  for (const entry of entries) {
    visits.count += 1;
    yield entry;
  }
}
