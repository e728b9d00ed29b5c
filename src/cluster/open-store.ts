/** Opens the store that the options name, from a backup when they say so. */
import { join } from "node:path";
import type { Log } from "../base/log.ts";
import type { Loop } from "../base/loop.ts";
import type { Metrics } from "../base/metrics.ts";
import { readNamed } from "../base/read-file.ts";
import type { EtcdStoreOptions } from "../store/etcd/etcd-store.ts";
import { openFileStore } from "../store/file-store.ts";
import { readBackup, restoreFile } from "../store/file/backup.ts";
import { LoadedState } from "../store/loaded-state.ts";
import { openMemoryStore } from "../store/memory-store.ts";
import { MAX_CHANGES, prefixEnd } from "../store/store.ts";
import type { Entry, Store } from "../store/store.ts";
import type { ClusterOptions, EtcdOptions } from "./options.ts";

/** All keys are below, as kube-apiserver has them. */
const ROOT = "/registry/";

export interface Surroundings {
  readonly loop: Loop;
  readonly log: Log;
  readonly metrics?: Metrics;
  /** Once aborted, nobody waits for a store that is away. */
  readonly signal?: AbortSignal;
}

export function storeFolder(dataDir: string): string {
  return join(dataDir, "store");
}

export function openStore(
  { store, dataDir, restoreFile: file }: Pick<ClusterOptions, "store" | "dataDir" | "restoreFile">,
  surroundings: Surroundings,
): Promise<Store> {
  switch (store.type) {
    case "memory":
      return openMemory(surroundings, file);
    case "file":
      return openFile(storeFolder(dataDir), surroundings, file);
    case "etcd":
      return openEtcd(store.etcd, surroundings, file);
  }
}

async function openMemory({ loop }: Surroundings, file: string | undefined): Promise<Store> {
  if (file === undefined) return openMemoryStore({ loop });
  const { revision, entries } = await readEntries(file, loop);
  return openMemoryStore({ loop, restore: { revision, entries } });
}

async function openFile(dir: string, { loop, log }: Surroundings, file: string | undefined): Promise<Store> {
  if (file !== undefined) await restoreFile({ file, dir, loop });
  return openFileStore({ dir, loop, log });
}

/** gRPC takes a tenth of a second to load, so only those who use etcd pay for it. */
export async function openEtcd(
  etcd: EtcdOptions,
  { loop, log, metrics, signal }: Surroundings,
  file?: string,
): Promise<Store> {
  const { openEtcdStore } = await loop.outside("import", import("../store/etcd/etcd-store.ts"));
  const store = await openEtcdStore({
    loop,
    log,
    ...(metrics !== undefined && { metrics }),
    ...(signal !== undefined && { signal }),
    prefix: ROOT,
    ...(await readEtcdFiles(etcd, loop)),
  });
  try {
    if (file !== undefined) await restoreInto(store, await readEntries(file, loop));
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
  const read = (path: string): Promise<Buffer> => loop.outside("file", readNamed(path));
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

/** Etcd counts its own revisions, so objects get new ones; what is there already is never overwritten. */
async function restoreInto(store: Store, { entries }: Snapshot): Promise<void> {
  if (store.view.count(ROOT, prefixEnd(ROOT)) > 0) {
    throw new Error(`etcd already holds keys under ${ROOT}: restore into an empty one`);
  }
  for (let start = 0; start < entries.length; start += MAX_CHANGES) {
    const part = entries.slice(start, start + MAX_CHANGES);
    await store.write({
      compare: part.map(({ key }) => ({ key, modRevision: 0 })),
      changes: part.map(({ key, value }) => ({ type: "put", key, value })),
    });
  }
}
