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

export interface PastOfKey {
  /** Newest first. */
  readonly writes: readonly PastWrite[];
  /** Why older writes are missing. */
  readonly cut: "limit" | "history" | undefined;
}

/** `next` runs between two writes: it yields to the loop. */
export async function pastOfKey(
  { store, journal }: PastParts,
  key: string,
  { limit, next }: { readonly limit: number; readonly next: () => Promise<void> },
): Promise<PastOfKey> {
  const journalled = [...journal.of(key)];
  const writes: PastWrite[] = [];
  let revision = Math.max(store.view.get(key)?.modRevision ?? 0, journalled.at(-1)?.revision ?? 0);
  while (revision > 0) {
    if (writes.length === limit) return { writes, cut: "limit" };
    const entry = journal.findByRevision(revision);
    const change = await findChange(store, revision, key);
    writes.push({ revision, entry, change });
    const older = olderThan(journalled, revision);
    if (change === undefined) {
      // The journal may remember older writes whose states are gone.
      if (older === 0) return { writes, cut: "history" };
      revision = older;
    } else revision = change.before?.modRevision ?? older;
    await next();
  }
  return { writes, cut: undefined };
}

async function findChange(
  store: PastParts["store"],
  revision: number,
  key: string,
): Promise<PastChange | undefined> {
  try {
    return await store.change(revision, key);
  } catch (error) {
    if (isStoreError(error, "Compacted")) return undefined;
    throw error;
  }
}

/** Newest journalled revision below another, or 0. */
function olderThan(journalled: JournalEntry[], revision: number): number {
  while ((journalled.at(-1)?.revision ?? 0) >= revision) journalled.pop();
  return journalled.at(-1)?.revision ?? 0;
}
