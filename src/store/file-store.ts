/** The embedded engine: durable on one machine. */
import { silentLog } from "../base/log/log.ts";
import type { Log } from "../base/log/log.ts";
import type { Loop } from "../base/loop/loop.ts";
import { DiskWindow } from "./disk-window.ts";
import type { DiskWindowOptions } from "./disk-window.ts";
import { openFileBackend } from "./file/file-backend.ts";
import { historyWithin } from "./history.ts";
import type { HistoryOptions } from "./history.ts";
import { LoadedState } from "./loaded-state.ts";
import { LocalStore } from "./local-store.ts";
import { Mirror } from "./mirror.ts";
import type { Store } from "./store.ts";

export interface FileStoreOptions {
  /** Made when it does not exist. Holds nothing but the store. */
  readonly dir: string;
  readonly loop: Loop;
  readonly log?: Log;
  /** In memory. */
  readonly history?: HistoryOptions;
  /** On disk; what memory no longer holds is read from there. */
  readonly diskHistory?: Partial<DiskWindowOptions>;
  /** Above this size of the database writes fail with `NoSpace`. */
  readonly maxBytes?: number;
  /** Above it, in memory, writes that add data fail with `NoSpace`; none unless given. */
  readonly quotaBytes?: number | undefined;
}

const DISK_WINDOW: DiskWindowOptions = {
  // As long as kube-apiserver leaves it in etcd.
  windowMs: 5 * 60_000,
  // A second or more of writing at full speed, and little beside the objects of a cluster that size.
  maxBytes: 256 << 20,
};

/** In memory is what watchers that keep up and lists of many pages need; who is further behind reads from disk. */
const HISTORY: HistoryOptions = { maxBytes: 32 << 20 };

/** Throws StoreError `Locked` or `Damaged`; see docs/concepts/revisions.md. */
export async function openFileStore(options: FileStoreOptions): Promise<Store> {
  const { dir, loop, log = silentLog, maxBytes, quotaBytes } = options;
  const diskWindow = new DiskWindow({ ...DISK_WINDOW, ...options.diskHistory });
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
