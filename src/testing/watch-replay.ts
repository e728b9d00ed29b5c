/**
 * Replays transactions into the events that a watch without gaps must deliver. Recorded watches are compared with
 * them.
 */

/** One transaction as its writer recorded it; an undefined `value` is a deletion. */
export interface RecordedTransaction {
  readonly revision: number;
  readonly changes: readonly { readonly key: string; readonly value: Uint8Array | undefined }[];
}

export interface PlannedEntry {
  readonly key: string;
  readonly value: Uint8Array;
  readonly createRevision: number;
  readonly modRevision: number;
  readonly version: number;
}

export interface PlannedEvent {
  readonly revision: number;
  readonly key: string;
  readonly before: PlannedEntry | undefined;
  readonly after: PlannedEntry | undefined;
}

/** The events of all transactions, by revision. Starts with an empty store. */
export function replay(transactions: readonly RecordedTransaction[]): PlannedEvent[] {
  const state = new Map<string, PlannedEntry>();
  return transactions
    .toSorted((a, b) => a.revision - b.revision)
    .flatMap((transaction) => applyTo(state, transaction));
}

/** Applies a transaction to the state and returns its events. Deleting a missing key makes no event. */
export function applyTo(
  state: Map<string, PlannedEntry>,
  { revision, changes }: RecordedTransaction,
): PlannedEvent[] {
  const events: PlannedEvent[] = [];
  for (const { key, value } of changes) {
    const before = state.get(key);
    const after = value === undefined ? undefined : nextEntry({ key, value, revision, before });
    if (before === undefined && after === undefined) continue;
    if (after === undefined) state.delete(key);
    else state.set(key, after);
    events.push({ revision, key, before, after });
  }
  return events;
}

/** Equals the rule of `WatchOptions.prefix`: all keys, the keys below a prefix that ends with a slash, or one key. */
export function inWatchRange(key: string, prefix: string): boolean {
  if (prefix === "" || prefix.endsWith("/")) return key.startsWith(prefix);
  return key === prefix;
}

interface Written {
  readonly key: string;
  readonly value: Uint8Array;
  readonly revision: number;
  readonly before: PlannedEntry | undefined;
}

function nextEntry({ key, value, revision, before }: Written): PlannedEntry {
  return {
    key,
    value,
    createRevision: before?.createRevision ?? revision,
    modRevision: revision,
    version: (before?.version ?? 0) + 1,
  };
}
