/**
 * The part of an etcd that belongs to the store: all keys under a prefix, under their full names, except the key by which
 * servers agree which of them compacts, and the scratch key of a restore.
 */
import { isUnder } from "../key-group.ts";
import type { Entry } from "../store.ts";
import { keyBytes, keyString, prefixRange, type KeyValue } from "./wire/protocol.ts";

/** The same as kube-apiserver's, so that one of them on the same etcd takes its turn too. */
export const COMPACT_REV_KEY = "compact_rev_key";

const SCRATCH_KEY = "setpoint_restore";

export class Keyspace {
  readonly prefix: string;
  readonly range: ReturnType<typeof prefixRange>;
  /** A key that nobody writes: the cheapest thing to ask for when only the revision matters. */
  readonly absentKey: Uint8Array;

  constructor(prefix: string) {
    this.prefix = prefix;
    this.range = prefixRange(prefix);
    this.absentKey = keyBytes(`${prefix}\0`);
  }

  /** For users who may not touch anything outside the prefix. */
  get ownCompactRevKey(): string {
    return `${this.prefix}${COMPACT_REV_KEY}`;
  }

  /** Written only to raise etcd's revision. */
  get scratchKey(): string {
    return `${this.prefix}${SCRATCH_KEY}`;
  }

  has(key: string): boolean {
    if (!key.startsWith(this.prefix)) return false;
    const rest = key.slice(this.prefix.length);
    return key !== COMPACT_REV_KEY && rest !== COMPACT_REV_KEY && rest !== SCRATCH_KEY;
  }

  /** What to read for the keys under `prefix` (in the meaning of the contract); undefined when none of them are ours. */
  part(prefix: string): { readonly key: Uint8Array; readonly range_end?: Uint8Array } | undefined {
    if (isUnder(this.prefix, prefix)) return this.range;
    if (!prefix.startsWith(this.prefix)) return undefined;
    return prefix.endsWith("/") ? prefixRange(prefix) : { key: keyBytes(prefix) };
  }
}

/** The value is copied: a slice would keep the whole message alive that it came in. */
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
