/**
 * The backend of the file engine: an SQLite database in a directory, owned by a worker thread. What the files are and how
 * they guard against damage: disk/*.js.
 */
import type { Log } from "../../base/log/log.ts";
import type { Loop } from "../../base/loop/loop.ts";
import type { Archive, ArchivePiece } from "../archive.ts";
import type { Backend } from "../backend.ts";
import type { Commit } from "../commit.ts";
import type { Entry, WatchEvent } from "../store.ts";
import type { Piece, StoreHead } from "./protocol.ts";
import { decodeRows, encodeCommits, entryOf } from "./row.ts";
import type { LoadedRow } from "./row.ts";
import { StoreThread } from "./store-thread.ts";

export interface FileBackendOptions {
  /** Made when it does not exist. Holds nothing but the store. */
  readonly dir: string;
  readonly loop: Loop;
  readonly log: Log;
  /** Above this size of the database commits fail with `NoSpace`; compaction makes room. */
  readonly maxBytes?: number;
  /** Gets every row in order of id while the store is opened. What it built is void when opening fails. */
  readonly onRow: (row: LoadedRow) => void;
}

export interface OpenedFileBackend extends StoreHead {
  readonly backend: Backend & Archive;
}

/**
 * Opens the store in a directory, or creates it when there is none. Throws StoreError `Locked` when another process has it,
 * `Damaged` when anything that was ever acknowledged may be missing; then nothing on disk was changed.
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
    // One piece a request, so that commits come in between.
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

function archivePiece({ rows, superseded, through }: Piece): ArchivePiece {
  const entries = new Map<number, Entry | undefined>();
  const commits: { revision: number; events: WatchEvent[] }[] = [];
  decodeRows(bufferOf(superseded), (row) => entries.set(row.id, entryOf(row)));
  decodeRows(bufferOf(rows), (row) => {
    const { revision, ordinal, key } = row;
    const after = entryOf(row);
    entries.set(row.id, after);
    if (ordinal === 0) commits.push({ revision, events: [] });
    commits.at(-1)?.events.push({ revision, ordinal, key, before: entries.get(row.prevId), after });
  });
  return { commits, through };
}

function bufferOf(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
