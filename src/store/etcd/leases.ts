/**
 * Leases for keys that end by themselves. A lease costs etcd more than a key, so keys of about the same end share one, as
 * kube-apiserver's do. A key never ends before its time: a lease is granted for longer than was asked for, and taken again
 * only while enough is left of it.
 */
import type { Loop } from "../../base/loop/loop.ts";
import { isStoreError, StoreError } from "../store-error.ts";
import type { Connection } from "./wire/connection.ts";
import { LEASE_GRANT } from "./wire/protocol.ts";

/** Same numbers as kube-apiserver's: a lease is shared during this share of its time, and no longer than this. */
const SHARED_PART = 0.05;
const MAX_SHARED_MS = 60_000;
/** Keys on one lease end in one revision: a bound on its size. */
const MAX_KEYS = 1_000;
/** Different times to live for which a lease is remembered; servers use one or two. */
const MAX_KINDS = 64;
/** For the way of the write to etcd, so that a key does not end early because its write was slow. */
const MARGIN_MS = 500;

interface Lease {
  readonly id: number;
  /** By Loop.elapsed; etcd's own end is not before. */
  readonly endsAt: number;
}

interface Kind {
  readonly lease: Promise<Lease>;
  keys: number;
}

export class Leases {
  readonly #loop: Loop;
  readonly #connection: Connection;
  /** The newest lease for each time to live. */
  readonly #kinds = new Map<number, Kind>();

  constructor(loop: Loop, connection: Connection) {
    this.#loop = loop;
    this.#connection = connection;
  }

  /** The lease for so many keys written now. Fails with `Unavailable`. */
  async take(ttlMs: number, keys: number): Promise<number> {
    const known = this.#kinds.get(ttlMs);
    if (known !== undefined && known.keys + keys <= MAX_KEYS) {
      known.keys += keys;
      const lease = await known.lease;
      if (lease.endsAt >= this.#loop.elapsed() + ttlMs + MARGIN_MS) return lease.id;
    }
    // Another writer may have asked for a new one during the await.
    const newer = this.#kinds.get(ttlMs);
    if (newer !== undefined && newer !== known) return this.take(ttlMs, keys);
    return (await this.#grant(ttlMs, keys)).id;
  }

  /** After etcd said that a lease is gone. */
  forget(ttlMs: number): void {
    this.#kinds.delete(ttlMs);
  }

  async #grant(ttlMs: number, keys: number): Promise<Lease> {
    const kind: Kind = { lease: this.#request(ttlMs), keys };
    this.#kinds.delete(ttlMs);
    this.#kinds.set(ttlMs, kind);
    for (const oldest of this.#kinds.keys()) {
      if (this.#kinds.size <= MAX_KINDS) break;
      this.#kinds.delete(oldest);
    }
    try {
      return await kind.lease;
    } catch (error) {
      if (this.#kinds.get(ttlMs) === kind) this.#kinds.delete(ttlMs);
      throw error;
    }
  }

  async #request(ttlMs: number): Promise<Lease> {
    const wantedMs = ttlMs + Math.min(ttlMs * SHARED_PART, MAX_SHARED_MS) + MARGIN_MS;
    const id = this.#newId();
    const start = this.#loop.elapsed();
    try {
      const { TTL } = await this.#connection.call(LEASE_GRANT, { TTL: Math.ceil(wantedMs / 1000), ID: id });
      return { id, endsAt: start + TTL * 1000 };
    } catch (error) {
      if (!isStoreError(error, "OutcomeUnknown")) throw error;
      // A lease without keys does nothing; of what the caller wanted nothing was sent.
      throw new StoreError("Unavailable", error.message, { cause: error });
    }
  }

  /** Of our own choice, because etcd's do not fit a JavaScript number. 1 to 2^48: none is taken twice. */
  #newId(): number {
    let id = 0;
    for (const byte of this.#loop.random("leases").bytes(6)) id = id * 256 + byte;
    return id + 1;
  }
}
