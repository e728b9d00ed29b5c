/** Judges transactions against a state and applies them to it; changes nothing else. */
import type { Commit } from "./commit.ts";
import type { StateEditor } from "./state.ts";
import { StoreError } from "./store-error.ts";
import { MAX_CHANGES } from "./store.ts";
import type { Change, Entry, Transaction, WatchEvent } from "./store.ts";

/** Matches lone surrogates: such a key would become another one when written as UTF-8. */
const LONE_SURROGATE = /\p{Surrogate}/u;

export interface AdvanceOptions {
  readonly now: number;
  /** Throws `NoSpace` when there is no space for the transaction's changes. */
  readonly admit?: (events: readonly WatchEvent[]) => void;
}

/**
 * Advances the state to the next revision; undefined when the transaction is a no-op. When it throws `ConditionFailed`,
 * `InvalidTransaction` or `NoSpace`, the state is unchanged.
 */
export function advance(
  state: StateEditor,
  transaction: Transaction,
  { now, admit }: AdvanceOptions,
): Commit | undefined {
  checkTransaction(transaction);
  checkConditions(state, transaction);
  const revision = state.revision + 1;
  const events = eventsOf(state, transaction, { revision, now });
  if (events === undefined) return undefined;
  admit?.(events);
  state.apply(revision, events);
  return { revision, time: now, events, liveCount: state.liveCount, liveSum: state.liveSum };
}

/** The array lives long, so it is built without the spare capacity of a growing one. */
function eventsOf(
  state: StateEditor,
  { changes }: Transaction,
  { revision, now }: { readonly revision: number; readonly now: number },
): WatchEvent[] | undefined {
  let events: WatchEvent[] | undefined;
  for (const change of changes) {
    const before = state.get(change.key);
    if (change.type === "delete" && before === undefined) continue;
    const ordinal = events?.length ?? 0;
    // Reuses the known string of the key, so that the new one need not outlive the call.
    const key = before?.key ?? change.key;
    const after =
      change.type === "put" ? written(change, before, { key, revision, ordinal, now }) : undefined;
    const event = { revision, ordinal, key, before, after };
    if (events === undefined) events = [event];
    else events.push(event);
  }
  return events === undefined || events.length === 1 ? events : events.slice();
}

function checkConditions(state: StateEditor, { compare }: Transaction): void {
  if (compare === undefined) return;
  for (const { key, modRevision } of compare) {
    const found = state.get(key)?.modRevision ?? 0;
    if (found === modRevision) continue;
    throw new StoreError(
      "ConditionFailed",
      `expected ${key} at revision ${String(modRevision)}, found ${String(found)}`,
    );
  }
}

/** Throws `InvalidTransaction` for a transaction that no engine accepts. */
export function checkTransaction({ changes, compare }: Transaction): void {
  const conditions = compare?.length ?? 0;
  if (changes.length === 0 || changes.length > MAX_CHANGES || conditions > MAX_CHANGES) {
    throw new StoreError(
      "InvalidTransaction",
      `expected 1 to ${String(MAX_CHANGES)} changes and no more conditions than that, found ` +
        `${String(changes.length)} changes and ${String(conditions)} conditions`,
    );
  }
  if (changes.length > 1 && new Set(changes.map((change) => change.key)).size < changes.length) {
    throw new StoreError("InvalidTransaction", "expected each key in one change, found one in several");
  }
  for (const { key } of changes) {
    if (key === "" || LONE_SURROGATE.test(key)) {
      throw new StoreError(
        "InvalidTransaction",
        `expected well-formed text as a key, found ${JSON.stringify(key)}`,
      );
    }
  }
}

interface Place {
  readonly key: string;
  readonly revision: number;
  readonly ordinal: number;
  readonly now: number;
}

function written(
  put: Change & { type: "put" },
  before: Entry | undefined,
  { key, revision, ordinal, now }: Place,
): Entry {
  return {
    key,
    value: put.value,
    createRevision: before?.createRevision ?? revision,
    modRevision: revision,
    version: (before?.version ?? 0) + 1,
    ordinal,
    expiresAt: put.ttlMs === undefined ? undefined : now + put.ttlMs,
    slot: put.slot,
  };
}
