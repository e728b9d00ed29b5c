/** Backups of a store: one file, readable by every engine. */
import type { Loop } from "../../base/loop/loop.ts";
import type { Entry } from "../store.ts";
import type { BackupHead, StoreHead } from "./protocol.ts";
import { decodeRows, encodeEntries } from "./row.ts";
import type { LoadedRow } from "./row.ts";
import { StoreThread } from "./store-thread.ts";

/** What is sent to the worker at a time. */
const CHUNK_BYTES = 1 << 20;

interface BackupPlace {
  readonly dir: string;
  readonly file: string;
  readonly loop: Loop;
}

/**
 * Writes the state and history of the store in `dir` as of one moment, whether it is open in another process or not.
 * When it resolves, the file is complete, was read back and is on disk. An existing file is never replaced.
 */
export function backupFile({ dir, file, loop }: BackupPlace): Promise<StoreHead> {
  return onThread(loop, (thread) => thread.request({ type: "backup", dir, file }));
}

/** Makes a store of a backup. Refuses a directory that has one, and a damaged backup, without leaving anything behind. */
export function restoreFile({ file, dir, loop }: BackupPlace): Promise<StoreHead> {
  return onThread(loop, (thread) => thread.request({ type: "restore", file, dir }));
}

/** Gives the rows of a backup in order of id; what `onRow` built is void when this fails. */
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
  /** All that live at `revision`, in any order. */
  readonly entries: Iterable<Entry>;
}

/** Writes a backup from what another engine holds at one revision. History is not part of it. */
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
