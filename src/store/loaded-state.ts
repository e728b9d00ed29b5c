/**
 * Builds the state from the rows of a file store, which come in write order. The newest commits go to the history in
 * memory, so that watches cut by a restart can resume from it; older ones stay in the archive.
 */
import type { Commit } from "./commit.ts";
import { entryOf } from "./file/row.ts";
import type { LoadedRow } from "./file/row.ts";
import type { RetentionWindow } from "./retention-window.ts";
import { State, StateEditor } from "./state.ts";
import type { Advance } from "./state.ts";
import type { Entry, WatchEvent } from "./store.ts";

/** Upper bound of the commits kept for the history: a few seconds of a busy cluster. */
const RECENT_ROWS = 10_000;
const RECENT_BYTES = 16 << 20;
/** Commits per advance; a read at a revision in between replays up to as many. */
const ADVANCE_COMMITS = 256;

export class LoadedState {
  readonly #window: RetentionWindow | undefined;
  readonly #live = new Map<string, Entry>();
  /** Kept commits as their rows, from old to new. */
  readonly #recent: LoadedRow[][] = [];
  #recentRows = 0;
  #recentBytes = 0;

  /** `window` records the age of the history on disk. */
  constructor(window?: RetentionWindow) {
    this.#window = window;
  }

  add(row: LoadedRow): void {
    const bytes = bytesOf(row);
    this.#window?.note(row.revision, row.time, bytes);
    const newest = this.#recent.at(-1);
    if (newest?.[0]?.revision === row.revision) newest.push(row);
    else this.#begin(row);
    this.#recentRows += 1;
    this.#recentBytes += bytes;
  }

  /** Returns the state after the older rows, and the commits that lead from it to `revision`. */
  finish(compactedRevision: number, revision: number): { state: State; advances: Advance[] } {
    this.#window?.begin(compactedRevision);
    const kept = this.#recent.filter((rows) => (rows[0]?.revision ?? 0) > compactedRevision);
    this.#settle(this.#recent.slice(0, this.#recent.length - kept.length));
    const first = kept[0]?.[0]?.revision;
    const start = State.of(first === undefined ? revision : first - 1, this.#live.values());
    const editor = new StateEditor(start);
    const advances: Advance[] = [];
    for (let at = 0; at < kept.length; at += ADVANCE_COMMITS) {
      const commits = kept.slice(at, at + ADVANCE_COMMITS).map((rows) => redo(editor, rows));
      advances.push({ commits, state: editor.state() });
    }
    return { state: start, advances };
  }

  #begin(row: LoadedRow): void {
    if (this.#recentRows > RECENT_ROWS || this.#recentBytes > RECENT_BYTES) this.#settleOlderHalf();
    this.#recent.push([row]);
  }

  #settleOlderHalf(): void {
    const older = this.#recent.splice(0, Math.ceil(this.#recent.length / 2));
    this.#settle(older);
    for (const row of older.flat()) {
      this.#recentRows -= 1;
      this.#recentBytes -= bytesOf(row);
    }
  }

  #settle(commits: readonly (readonly LoadedRow[])[]): void {
    for (const rows of commits) {
      for (const row of rows) {
        const entry = entryOf(row);
        if (entry === undefined) this.#live.delete(row.key);
        else this.#live.set(row.key, entry);
      }
    }
  }
}

function bytesOf(row: LoadedRow): number {
  return row.key.length + (row.value?.byteLength ?? 0);
}

/** Rebuilds a commit as it was written, and applies it to the state. */
function redo(state: StateEditor, rows: readonly LoadedRow[]): Commit {
  const { revision, time } = rows[0] ?? { revision: state.revision, time: 0 };
  const events: WatchEvent[] = rows.map((row) => ({
    revision,
    ordinal: row.ordinal,
    key: row.key,
    before: state.get(row.key),
    after: entryOf(row),
  }));
  state.apply(revision, events);
  return { revision, time, events, liveCount: state.liveCount, liveSum: state.liveSum };
}
