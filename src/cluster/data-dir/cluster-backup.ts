/** Writes a consistent snapshot of a cluster's state, whether it runs or not. */
import type { Log } from "../../base/log/log.ts";
import type { Loop } from "../../base/loop/loop.ts";
import { backupFile, writeBackup } from "../../store/file/backup.ts";
import { prefixEnd } from "../../store/store.ts";
import type { Entry } from "../../store/store.ts";
import type { BackupOptions } from "../options.ts";
import { openEtcd, storeFolder } from "./open-store.ts";
import { findRunning } from "./run-file.ts";

export interface BackupResult {
  readonly file: string;
  /** Revision of the snapshot. */
  readonly revision: number;
}

/** Refuses while a cluster with another store runs: the files on disk would be those of an earlier cluster, or none. */
async function refuseOtherStore(dataDir: string, loop: Loop): Promise<void> {
  const running = await findRunning(dataDir, loop);
  if (running?.store === "memory")
    throw new Error(
      `the cluster of process ${String(running.pid)} in ${dataDir} has its state in memory: it cannot be backed up`,
    );
  if (running?.store === "etcd")
    throw new Error(
      `the cluster of process ${String(running.pid)} in ${dataDir} has its state in etcd: back it up with --store etcd`,
    );
}

/** Lifetimes of keys that expire: Events and the servers' own leases. etcd does not report when a key expires. */
const ENDING_PREFIXES: readonly (readonly [prefix: string, ttlMs: number])[] = [
  ["/registry/events/", 60 * 60_000],
  ["/registry/masterleases/", 15_000],
];

/** Adds expiry times: without them these keys would never expire after a restore. */
function* withEnds(entries: Iterable<Entry>, now: number): Generator<Entry> {
  for (const entry of entries) {
    const ttlMs = ENDING_PREFIXES.find(([prefix]) => entry.key.startsWith(prefix))?.[1];
    yield ttlMs === undefined || entry.expiresAt !== undefined ? entry : { ...entry, expiresAt: now + ttlMs };
  }
}

/** Resolves when the file is complete, read back and synced. Never replaces an existing file. */
export async function backUp(
  { store, dataDir, file }: BackupOptions,
  { loop, log }: { readonly loop: Loop; readonly log: Log },
): Promise<BackupResult> {
  if (store.type === "file") {
    await refuseOtherStore(dataDir, loop);
    const { revision } = await backupFile({ dir: storeFolder(dataDir), file, loop });
    return { file, revision };
  }
  const etcd = await openEtcd(store.etcd, { loop, log });
  try {
    const view = await etcd.fresh();
    const entries = withEnds(view.range("", prefixEnd("")), loop.now());
    await writeBackup({
      file,
      loop,
      clusterId: loop.random("cluster-id").uuid(),
      revision: view.revision,
      entries,
    });
    return { file, revision: view.revision };
  } finally {
    await etcd.close();
  }
}
