/** The stored entries among which selectors pick: those that an index lists, or all of a range. */
import type { Entry, View } from "../../../store/store.ts";
import type { StoredResource } from "../../objects/registry.ts";
import type { SelectionIndexes } from "../../objects/selection/selection-indexes.ts";
import type { Selection } from "../../objects/selection/selection-terms.ts";
import type { KeyRange } from "../../objects/selection/value-index.ts";
import { findKept } from "../../objects/stored-object.ts";

export interface SelectedEntries {
  /** In order of their keys. Some may not match. Read once. */
  readonly entries: Iterable<Entry>;
  /** Index that found them, `label` or `field`; empty for a scan. */
  readonly index: string;
}

export interface SelectionPlace {
  readonly resource: StoredResource;
  readonly view: View;
  readonly range: KeyRange;
}

export async function selectedEntries(
  selection: Selection,
  { resource, view, range }: SelectionPlace,
  indexes: SelectionIndexes,
): Promise<SelectedEntries> {
  const selected = await indexes.select(selection, resource, { view, range });
  if (selected === undefined) return { entries: view.range(range.from, range.to), index: "" };
  return { entries: found(view, selected.keys), index: selected.by };
}

/** Skips keys of objects that the view does not have, and unreadable objects as `range` does. */
function* found(view: View, keys: Iterable<{ readonly key: string }>): Generator<Entry> {
  for (const { key } of keys) {
    const entry = view.get(key);
    if (entry !== undefined && findKept(entry) !== undefined) yield entry;
  }
}
