/** The embedded engine: durable on one machine. */
import { silentLog } from "../base/log/log.ts";
import type { Log } from "../base/log/log.ts";
import type { Loop } from "../base/loop/loop.ts";
import { openFileBackend } from "./file/file-backend.ts";
import { historyWithin } from "./history.ts";
import type { HistoryOptions } from "./history.ts";
import { LoadedState } from "./loaded-state.ts";
import { LocalStore } from "./local-store.ts";
import { Mirror } from "./mirror.ts";
import { RetentionWindow } from "./retention-window.ts";
import type { RetentionWindowOptions } from "./retention-window.ts";
import type { Store } from "./store.ts";

export interface FileStoreOptions {
  /** Folder of the store; created when missing. Holds nothing but the store. */
  readonly dir: string;
  readonly loop: Loop;
  readonly log?: Log;
  /** History kept in memory. */
  readonly history?: HistoryOptions;
  /** History kept on disk; reads that memory no longer covers come from there. */
  readonly diskHistory?: Partial<RetentionWindowOptions>;
  /** Size of the database above which writes fail with `NoSpace`. */
  readonly maxBytes?: number;
  /** Bytes in memory above which writes that add data fail with `NoSpace`; default no limit. */
  readonly quotaBytes?: number | undefined;
}

const DISK_WINDOW: RetentionWindowOptions = {
  // As long as kube-apiserver keeps it in etcd.
  windowMs: 5 * 60_000,
  // Covers at least a second of writes at full speed, and is small next to the objects of a cluster that busy.
  maxBytes: 256 << 20,
};

/** Memory serves watchers that keep up and paged lists; watchers further behind read from disk. */
const HISTORY: HistoryOptions = { maxBytes: 32 << 20 };

/** Throws StoreError `Locked` or `Damaged`; see docs/concepts/revisions.md. */
export async function openFileStore(options: FileStoreOptions): Promise<Store> {
  const { dir, loop, log = silentLog, maxBytes, quotaBytes } = options;
  const diskWindow = new RetentionWindow({ ...DISK_WINDOW, ...options.diskHistory });
  const loaded = new LoadedState(diskWindow);
  const { backend, compactedRevision, revision } = await openFileBackend({
    dir,
    loop,
    log,
    onRow: (row) => loaded.add(row),
    ...(maxBytes !== undefined && { maxBytes }),
  });
  const { state, advances } = loaded.finish(compactedRevision, revision);
  const history = historyWithin(quotaBytes, { ...HISTORY, ...options.history });
  const mirror = new Mirror({ loop, archive: backend, history }, state);
  for (const advance of advances) mirror.publish(advance);
  return new LocalStore({ loop, backend, mirror, diskWindow, quotaBytes }).begin();
}
