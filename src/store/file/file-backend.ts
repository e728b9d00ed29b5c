/**
 * The backend of the file engine: an SQLite database in a directory, owned by a worker thread. The files and their
 * protection against damage: disk/*.js.
 */
import type { Log } from "../../base/log/log.ts";
import type { Loop } from "../../base/loop/loop.ts";
import type { Archive, ArchivePiece } from "../archive.ts";
import type { Backend } from "../backend.ts";
import type { Commit } from "../commit.ts";
import type { Entry, WatchEvent } from "../store.ts";
import { decodeRows, encodeCommits, entryOf } from "./row.ts";
import type { LoadedRow } from "./row.ts";
import { StoreThread } from "./store-thread.ts";
import type { HistoryPiece, StoreHead } from "./thread-protocol.ts";

export interface FileBackendOptions {
  /** Folder of the store; created when missing. Holds nothing but the store. */
  readonly dir: string;
  readonly loop: Loop;
  readonly log: Log;
  /** Size of the database above which commits fail with `NoSpace`; compaction frees space. */
  readonly maxBytes?: number;
  /** Called with every row in order of id while the store is opened. On failure, discard what it built. */
  readonly onRow: (row: LoadedRow) => void;
}

export interface OpenedFileBackend extends StoreHead {
  readonly backend: Backend & Archive;
}

/**
 * Opens the store in a directory, or creates it if there is none. Throws StoreError `Locked` when another process holds
 * it, `Damaged` when any acknowledged write may be missing; nothing on disk has changed then.
 */
export async function openFileBackend(options: FileBackendOptions): Promise<OpenedFileBackend> {
  const { dir, loop, log, maxBytes, onRow } = options;
  const thread = new StoreThread(loop);
  const newClusterId = loop.random("cluster-id").uuid();
  try {
    const startedAt = loop.elapsed();
    let rows = 0;
    const head = await thread.request({ type: "open", dir, newClusterId, maxBytes }, (slab) => {
      decodeRows(slab, (row) => {
        onRow(row);
        rows += 1;
      });
    });
    log.info("store opened", {
      dir,
      rows,
      revision: head.revision,
      ms: Math.round(loop.elapsed() - startedAt),
    });
    return { ...head, backend: new FileBackend(thread, loop, head.compactedRevision) };
  } catch (error) {
    await thread.end();
    throw error;
  }
}

class FileBackend implements Backend, Archive {
  readonly #thread: StoreThread;
  readonly #loop: Loop;
  #floor: number;

  constructor(thread: StoreThread, loop: Loop, floor: number) {
    this.#thread = thread;
    this.#loop = loop;
    this.#floor = floor;
  }

  get floor(): number {
    return this.#floor;
  }

  async commit(batch: readonly Commit[]): Promise<void> {
    await this.#thread.commit(encodeCommits(batch));
  }

  async compact(revision: number): Promise<void> {
    this.#floor = Math.max(this.#floor, revision);
    // One piece per request, so that commits can run in between.
    let reached = 0;
    while (reached < revision) {
      reached = await this.#thread.request({ type: "compact", revision, elapsedMs: this.#loop.elapsed() });
    }
  }

  async read(after: number, upTo: number): Promise<ArchivePiece> {
    return archivePiece(await this.#thread.request({ type: "read", after, upTo }));
  }

  async close(): Promise<void> {
    try {
      await this.#thread.request({ type: "close" });
    } finally {
      await this.#thread.end();
    }
  }
}

function archivePiece({ rows, superseded, through }: HistoryPiece): ArchivePiece {
  const entries = new Map<number, Entry | undefined>();
  const commits: { revision: number; time: number; events: WatchEvent[] }[] = [];
  decodeRows(bufferOf(superseded), (row) => entries.set(row.id, entryOf(row)));
  decodeRows(bufferOf(rows), (row) => {
    const { revision, time, ordinal, key } = row;
    const after = entryOf(row);
    entries.set(row.id, after);
    if (ordinal === 0) commits.push({ revision, time, events: [] });
    commits.at(-1)?.events.push({ revision, ordinal, key, before: entries.get(row.prevId), after });
  });
  return { commits, through };
}

function bufferOf(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
