/**
 * Raises etcd's revision by writing one key repeatedly: each transaction is one revision. A restore needs this so that
 * no resourceVersion that a client kept from before means another state afterwards.
 */
import { inParallel } from "../../base/loop/in-parallel.ts";
import type { Loop } from "../../base/loop/loop.ts";
import { StoreError } from "../store-error.ts";
import { compactEtcd } from "./compactor.ts";
import type { Keyspace } from "./keyspace.ts";
import type { EtcdConnection } from "./wire/etcd-connection.ts";
import { keyBytes, RANGE, TXN, type TxnRequest } from "./wire/etcd-protocol.ts";

/** Takes about a quarter of an hour on a small machine. */
const RAISE_MAX = 5_000_000;
/** Transactions in flight: enough to share etcd's disk syncs. */
const PIPELINED = 128;
/** Interval of compactions, in revisions, so that superseded values never fill etcd's quota. */
const COMPACT_EVERY = 50_000;

export interface RaiseOptions {
  readonly loop: Loop;
  readonly connection: EtcdConnection;
  readonly keyspace: Keyspace;
  /** Called after each part with the revision reached. */
  readonly onProgress: (revision: number) => void;
  /** Aborts the work. */
  readonly signal?: AbortSignal | undefined;
}

/** Resolves when etcd's revision is at least `target`. Throws `Overloaded` above RAISE_MAX, before any write. */
export async function raiseRevision(target: number, options: RaiseOptions): Promise<void> {
  const { connection, keyspace, onProgress, signal } = options;
  const key = keyBytes(keyspace.scratchKey);
  const readRevision = async (): Promise<number> =>
    (await connection.call(RANGE, { key: keyspace.absentKey, count_only: true })).header.revision;
  let revision = await readRevision();
  if (target - revision > RAISE_MAX) throw new StoreError("Overloaded", tooFar(revision, target));
  if (revision >= target) return;
  while (revision < target) {
    if (signal?.aborted === true) throw new StoreError("Closed", "the restore was ended early");
    await writeTimes(Math.min(target - revision, COMPACT_EVERY), { connection, key });
    revision = await readRevision();
    await compactEtcd(connection, revision - 1);
    onProgress(revision);
  }
  await connection.call(TXN, { compare: [], success: [{ request_delete_range: { key } }] });
}

interface Writing {
  readonly connection: EtcdConnection;
  readonly key: Uint8Array;
}

async function writeTimes(count: number, { connection, key }: Writing): Promise<void> {
  const request: TxnRequest = { compare: [], success: [{ request_put: { key, value: new Uint8Array() } }] };
  await inParallel(Array.from({ length: count }).keys(), PIPELINED, async () => {
    await connection.call(TXN, request);
  });
}

function tooFar(revision: number, target: number): string {
  return (
    `etcd is at revision ${String(revision)}, the backup at ${String(target)}: more than ${String(RAISE_MAX)} revisions apart. ` +
    `Take a snapshot of this empty etcd (etcdctl snapshot save FILE), restore it with "etcdutl snapshot restore FILE ` +
    `--bump-revision ${String(target)} --mark-compacted" (etcd 3.6 or later), start etcd from the result and try again`
  );
}
