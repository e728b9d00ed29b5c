/** Opens the store that the options name, restored from a backup if one is given. */
import { stat } from "node:fs/promises";
import { join } from "node:path";
import { getHeapStatistics } from "node:v8";
import type { Log } from "../../base/log/log.ts";
import type { Loop } from "../../base/loop/loop.ts";
import type { Metrics } from "../../base/metrics/metrics.ts";
import { readFileBytes } from "../../base/process/read-named-file.ts";
import type { EtcdStore, EtcdStoreOptions } from "../../store/etcd/etcd-store.ts";
import { openFileStore } from "../../store/file-store.ts";
import { readBackup, restoreFile } from "../../store/file/backup.ts";
import { LoadedState } from "../../store/loaded-state.ts";
import { openMemoryStore } from "../../store/memory-store.ts";
import { MAX_CHANGES, prefixEnd } from "../../store/store.ts";
import type { Entry, Store } from "../../store/store.ts";
import type { ClusterOptions, EtcdOptions, HistoryReach } from "../options.ts";

/** Prefix of all keys, as kube-apiserver has it. */
const ROOT = "/registry/";
/** Bytes per request, unless one object is larger: etcd accepts 1.5 MiB, including keys and conditions. */
const RESTORED_BYTES = 1 << 20;
/** Remaining lifetimes are rounded up to this, so that keys can share an etcd lease. */
const RESTORED_GRAIN_MS = 60_000;

export interface StoreSurroundings {
  readonly loop: Loop;
  readonly log: Log;
  readonly metrics?: Metrics;
  /** Aborts to stop waiting for an unreachable store. */
  readonly signal?: AbortSignal;
  /** Upper bound of the store's memory; no limit unless given. */
  readonly quotaBytes?: number | undefined;
  /** Reach of the history; default: that of the engine. */
  readonly history?: HistoryReach | undefined;
}

export function storeFolder(dataDir: string): string {
  return join(dataDir, "store");
}

export async function openStore(
  {
    store,
    dataDir,
    storeQuotaBytes,
    history,
    restoreFile: file,
  }: Pick<ClusterOptions, "store" | "dataDir" | "storeQuotaBytes" | "history" | "restoreFile">,
  given: StoreSurroundings,
): Promise<Store> {
  const surroundings = { ...given, history, quotaBytes: quotaFor(storeQuotaBytes) };
  if (file !== undefined) await given.loop.outside("file", refusePipe(file));
  switch (store.type) {
    case "memory":
      return openMemory(surroundings, file);
    case "file":
      return openFile(storeFolder(dataDir), surroundings, file);
    case "etcd":
      return openEtcd(store.etcd, surroundings, file);
  }
}

/** A pipe would block a thread that no signal ends. Readers report missing files and folders. */
async function refusePipe(file: string): Promise<void> {
  const found = await stat(file).catch(() => undefined);
  if (found === undefined || found.isFile() || found.isDirectory()) return;
  throw new Error(`${file} is not a regular file: choose another backup`);
}

/** Share of the heap for the store, which estimates the heap of decoded values. The rest is for requests and garbage. */
const SHARE_OF_HEAP = 0.62;
/** Heap of a server with its controllers over an empty store. */
const EMPTY_HEAP_BYTES = 128 * 1024 * 1024;

/** Undefined for no limit. */
function quotaFor(given: number | undefined): number | undefined {
  if (given === 0) return undefined;
  const heapBytes = getHeapStatistics().heap_size_limit;
  return given ?? Math.floor(Math.max(heapBytes - EMPTY_HEAP_BYTES, heapBytes / 4) * SHARE_OF_HEAP);
}

async function openMemory(
  { loop, quotaBytes, history }: StoreSurroundings,
  file: string | undefined,
): Promise<Store> {
  const options = { loop, quotaBytes, ...(history !== undefined && { history }) };
  if (file === undefined) return openMemoryStore(options);
  const { revision, entries } = await readEntries(file, loop);
  return openMemoryStore({ ...options, restore: { revision, entries } });
}

async function openFile(
  dir: string,
  { loop, log, quotaBytes, history }: StoreSurroundings,
  file: string | undefined,
): Promise<Store> {
  if (file !== undefined) await restoreFile({ file, dir, loop });
  return openFileStore({
    dir,
    loop,
    log,
    quotaBytes,
    ...(history !== undefined && { diskHistory: history }),
  });
}

/** Imported on demand: gRPC takes a tenth of a second to load. */
export async function openEtcd(
  etcd: EtcdOptions,
  { loop, log, metrics, signal, quotaBytes }: StoreSurroundings,
  file?: string,
): Promise<EtcdStore> {
  const { openEtcdStore } = await loop.outside("import", import("../../store/etcd/etcd-store.ts"));
  const store = await openEtcdStore({
    loop,
    log,
    ...(metrics !== undefined && { metrics }),
    ...(signal !== undefined && { signal }),
    prefix: ROOT,
    quotaBytes,
    ...(await readEtcdFiles(etcd, loop)),
  });
  try {
    if (file !== undefined) await restoreInto(store, await readEntries(file, loop), { loop, log, signal });
    return store;
  } catch (error) {
    await store.close();
    throw error;
  }
}

async function readEtcdFiles(
  { endpoints, caFile, certFile, keyFile, user, passwordFile }: EtcdOptions,
  loop: Loop,
): Promise<Pick<EtcdStoreOptions, "endpoints" | "tls" | "credentials">> {
  const read = (path: string): Promise<Buffer> => loop.outside("file", readFileBytes(path));
  const tls = {
    ...(caFile !== undefined && { ca: await read(caFile) }),
    ...(certFile !== undefined && { cert: await read(certFile) }),
    ...(keyFile !== undefined && { key: await read(keyFile) }),
  };
  const password = passwordFile === undefined ? undefined : (await read(passwordFile)).toString().trimEnd();
  return {
    endpoints,
    tls,
    ...(user !== undefined && password !== undefined && { credentials: { user, password } }),
  };
}

interface Snapshot {
  readonly revision: number;
  readonly entries: readonly Entry[];
}

async function readEntries(file: string, loop: Loop): Promise<Snapshot> {
  const loaded = new LoadedState();
  const { compactedRevision, revision } = await readBackup({ file, loop, onRow: (row) => loaded.add(row) });
  const { state, advances } = loaded.finish(compactedRevision, revision);
  const newest = advances.at(-1)?.state ?? state;
  return { revision, entries: [...newest.range("", prefixEnd(""))] };
}

/**
 * Writes the backup's objects into an empty etcd. They get new revisions, all above those of the backup; earlier
 * history is dropped. Never overwrites a key.
 */
async function restoreInto(
  store: EtcdStore,
  { revision, entries }: Snapshot,
  { loop, log, signal }: Pick<StoreSurroundings, "loop" | "log"> & { signal: AbortSignal | undefined },
): Promise<void> {
  if (store.view.count(ROOT, prefixEnd(ROOT)) > 0) {
    throw new Error(
      `etcd already holds keys under ${ROOT}: restore into an empty etcd, or empty this one (etcdctl del --prefix ${ROOT})`,
    );
  }
  const onProgress = (reached: number): void =>
    log.info("raising etcd's revision above the backup's", { revision: reached, target: revision });
  await store.raiseRevision(revision, { loop, onProgress, signal });
  for (const part of partsOf(entries)) {
    const now = loop.now();
    const living = part.filter(({ expiresAt }) => expiresAt === undefined || expiresAt > now);
    if (living.length === 0) continue;
    await store.write({
      compare: living.map(({ key }) => ({ key, modRevision: 0 })),
      changes: living.map(({ key, value, expiresAt }) => ({
        type: "put",
        key,
        value,
        ttlMs: expiresAt === undefined ? undefined : roundedUp(expiresAt - now),
      })),
    });
  }
  await store.compact(store.view.revision);
}

function roundedUp(ms: number): number {
  return Math.ceil(ms / RESTORED_GRAIN_MS) * RESTORED_GRAIN_MS;
}

/** Splits entries into parts that fit one etcd request. */
function* partsOf(entries: readonly Entry[]): Generator<Entry[]> {
  let part: Entry[] = [];
  let bytes = 0;
  for (const entry of entries) {
    const isFull = part.length === MAX_CHANGES || bytes + entry.value.length > RESTORED_BYTES;
    if (isFull && part.length > 0) {
      yield part;
      part = [];
      bytes = 0;
    }
    part.push(entry);
    bytes += entry.value.length;
  }
  yield part;
}
