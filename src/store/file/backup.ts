/** Backups of a store: one file, readable by every engine. */
import type { Loop } from "../../base/loop/loop.ts";
import type { Entry } from "../store.ts";
import { decodeRows, encodeEntries } from "./row.ts";
import type { LoadedRow } from "./row.ts";
import { StoreThread } from "./store-thread.ts";
import type { BackupHead, StoreHead } from "./thread-protocol.ts";

/** Bytes per message to the worker. */
const CHUNK_BYTES = 1 << 20;

interface BackupPlace {
  readonly dir: string;
  readonly file: string;
  readonly loop: Loop;
}

/**
 * Writes state and history of the store in `dir` as of one moment, even if another process has it open. Resolves when
 * the file is complete, read back and synced. Never replaces an existing file.
 */
export function backupFile({ dir, file, loop }: BackupPlace): Promise<StoreHead> {
  return onThread(loop, (thread) => thread.request({ type: "backup", dir, file }));
}

/** Creates a store from a backup. Refuses a directory with a store, and a damaged backup, without leaving files behind. */
export function restoreFile({ file, dir, loop }: BackupPlace): Promise<StoreHead> {
  return onThread(loop, (thread) => thread.request({ type: "restore", file, dir }));
}

/** Passes the rows of a backup to `onRow` in order of id. On failure, discard what `onRow` built. */
export function readBackup(options: {
  readonly file: string;
  readonly loop: Loop;
  readonly onRow: (row: LoadedRow) => void;
}): Promise<StoreHead> {
  const { file, loop, onRow } = options;
  return onThread(loop, (thread) =>
    thread.request({ type: "readBackup", file }, (slab) => {
      decodeRows(slab, onRow);
    }),
  );
}

export interface WriteBackupOptions extends BackupHead {
  readonly file: string;
  readonly loop: Loop;
  /** Live entries at `revision`, in any order. */
  readonly entries: Iterable<Entry>;
}

/** Writes a backup of another engine's entries at one revision, without history. */
export function writeBackup({ file, loop, clusterId, revision, entries }: WriteBackupOptions): Promise<void> {
  return onThread(loop, async (thread) => {
    await thread.request({ type: "createBackup", file, clusterId, revision });
    for (const chunk of chunks(entries))
      await thread.request({ type: "addToBackup", records: encodeEntries(chunk) });
    await thread.request({ type: "finishBackup" });
  });
}

function* chunks(entries: Iterable<Entry>): Generator<Entry[]> {
  let chunk: Entry[] = [];
  let bytes = 0;
  for (const entry of entries) {
    chunk.push(entry);
    bytes += entry.value.length;
    if (bytes < CHUNK_BYTES) continue;
    yield chunk;
    chunk = [];
    bytes = 0;
  }
  yield chunk;
}

async function onThread<T>(loop: Loop, work: (thread: StoreThread) => Promise<T>): Promise<T> {
  const thread = new StoreThread(loop);
  try {
    return await work(thread);
  } finally {
    await thread.end();
  }
}
