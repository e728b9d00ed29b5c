/**
 * Walks back through the writes of a key: each state names the revision of the one before it, so nothing is scanned.
 * Before a creation it goes on with the newest journalled write of an earlier object of that name.
 */
import { isStoreError } from "../../../store/store-error.ts";
import type { PastChange, Store } from "../../../store/store.ts";
import type { Journal, JournalEntry } from "../../write/journal.ts";

export interface PastWrite {
  readonly revision: number;
  readonly entry: JournalEntry | undefined;
  /** Undefined when the history does not reach back. */
  readonly change: PastChange | undefined;
}

export interface PastParts {
  readonly store: Pick<Store, "view" | "change">;
  readonly journal: Journal;
}

/** Yields the writes of a key, newest first. Returns whether the history ended before the first write. */
export async function* pastOfKey(
  { store, journal }: PastParts,
  key: string,
): AsyncGenerator<PastWrite, "whole" | "history"> {
  const journalled = [...journal.of(key)];
  let revision = Math.max(store.view.get(key)?.modRevision ?? 0, journalled.at(-1)?.revision ?? 0);
  while (revision > 0) {
    const entry = journal.findByRevision(revision);
    const change = await findChange({ store }, revision, key);
    yield { revision, entry, change };
    const older = olderThan(journalled, revision);
    // The journal may remember older writes whose states are gone.
    if (change === undefined && older === 0) return "history";
    revision = change?.before?.modRevision ?? older;
  }
  return "whole";
}

/** Undefined when the history does not have the change. */
export async function findChange(
  { store }: { readonly store: Pick<Store, "change"> },
  revision: number,
  key: string,
): Promise<PastChange | undefined> {
  try {
    return await store.change(revision, key);
  } catch (error) {
    if (isStoreError(error, "Compacted") || isStoreError(error, "FutureRevision")) return undefined;
    throw error;
  }
}

/** Newest journalled revision below another, or 0. */
function olderThan(journalled: JournalEntry[], revision: number): number {
  while ((journalled.at(-1)?.revision ?? 0) >= revision) journalled.pop();
  return journalled.at(-1)?.revision ?? 0;
}
