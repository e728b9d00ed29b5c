/**
 * The keys of an etcd that belong to the store: all under a prefix, by their full names. Excluded are the key by which
 * servers agree on compaction, and the scratch key of a restore.
 */
import { isUnder } from "../key-group.ts";
import type { Entry } from "../store.ts";
import { keyBytes, keyString, prefixRange, type KeyValue } from "./wire/etcd-protocol.ts";

/** Kube-apiserver's key, so that kube-apiservers on the same etcd take turns too. */
export const COMPACT_REV_KEY = "compact_rev_key";

const SCRATCH_KEY = "setpoint_restore";

export class Keyspace {
  readonly prefix: string;
  readonly range: ReturnType<typeof prefixRange>;
  /** A key that no server writes: the cheapest read when only the revision matters. */
  readonly absentKey: Uint8Array;

  constructor(prefix: string) {
    this.prefix = prefix;
    this.range = prefixRange(prefix);
    this.absentKey = keyBytes(`${prefix}\0`);
  }

  /** Under the prefix, for etcd users without access outside it. */
  get ownCompactRevKey(): string {
    return `${this.prefix}${COMPACT_REV_KEY}`;
  }

  /** Scratch key, written only to raise etcd's revision. */
  get scratchKey(): string {
    return `${this.prefix}${SCRATCH_KEY}`;
  }

  has(key: string): boolean {
    if (!key.startsWith(this.prefix)) return false;
    const rest = key.slice(this.prefix.length);
    return key !== COMPACT_REV_KEY && rest !== COMPACT_REV_KEY && rest !== SCRATCH_KEY;
  }

  /** Range of etcd keys for `prefix` (as in the contract); undefined when the store has no such keys. */
  part(prefix: string): { readonly key: Uint8Array; readonly range_end?: Uint8Array } | undefined {
    if (isUnder(this.prefix, prefix)) return this.range;
    if (!prefix.startsWith(this.prefix)) return undefined;
    return prefix.endsWith("/") ? prefixRange(prefix) : { key: keyBytes(prefix) };
  }
}

/** Copies the value: a slice would keep the whole message in memory. */
export function toEntry(kv: KeyValue, ordinal: number): Entry {
  return {
    key: keyString(kv.key),
    value: new Uint8Array(kv.value),
    createRevision: kv.create_revision,
    modRevision: kv.mod_revision,
    version: kv.version,
    ordinal,
    expiresAt: undefined,
    slot: undefined,
  };
}
