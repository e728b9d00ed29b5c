/** Reads many keys from etcd, in pages of one revision. */
import { State } from "../state.ts";
import type { Entry } from "../store.ts";
import { toEntry, type Keyspace } from "./keyspace.ts";
import type { EtcdConnection } from "./wire/etcd-connection.ts";
import { RANGE, type RangeResponse } from "./wire/etcd-protocol.ts";

/** Target size of a page, so that neither side blocks on it for long. */
const PAGE_BYTES = 4 << 20;
const FIRST_PAGE_KEYS = 500;
const MAX_PAGE_KEYS = 10_000;

export interface SnapshotOptions {
  readonly keyspace: Keyspace;
  /** Prefix as in the contract; default everything. */
  readonly prefix?: string;
  /** Default the newest revision. */
  readonly revision?: number;
}

/** Reads the keys at one revision. Throws StoreError `Compacted` when that revision is or becomes too old. */
export async function readSnapshot(connection: EtcdConnection, options: SnapshotOptions): Promise<State> {
  const { keyspace, prefix = keyspace.prefix } = options;
  const range = keyspace.part(prefix);
  let revision = options.revision ?? 0;
  if (range === undefined) return State.of(revision, []);
  const entries: Entry[] = [];
  let { key } = range;
  let limit = FIRST_PAGE_KEYS;
  for (;;) {
    const page = await connection.call(RANGE, { ...range, key, limit, revision });
    if (revision === 0) revision = page.header.revision;
    const bytes = take(page, keyspace, entries);
    const last = page.kvs.at(-1);
    if (!page.more || last === undefined) return State.of(revision, entries);
    key = successor(last.key);
    limit = nextLimit(page.kvs.length, bytes);
  }
}

function take(page: RangeResponse, keyspace: Keyspace, entries: Entry[]): number {
  let bytes = 0;
  for (const kv of page.kvs) {
    bytes += kv.value.byteLength;
    const entry = toEntry(kv, 0);
    if (keyspace.has(entry.key)) entries.push(entry);
  }
  return bytes;
}

function nextLimit(keys: number, bytes: number): number {
  const wanted = Math.floor((keys * PAGE_BYTES) / Math.max(bytes, 1));
  return Math.max(1, Math.min(wanted, keys * 4, MAX_PAGE_KEYS));
}

/** The next key in order. */
function successor(key: Uint8Array): Uint8Array {
  const next = new Uint8Array(key.byteLength + 1);
  next.set(key);
  return next;
}
