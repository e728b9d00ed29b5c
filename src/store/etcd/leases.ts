/**
 * Leases for keys that expire. A lease costs etcd more than a key, so keys that expire at about the same time share
 * one, as kube-apiserver's do. A key never expires early: a lease is granted for longer than requested, and reused only
 * while enough time is left.
 */
import type { Loop } from "../../base/loop/loop.ts";
import { isStoreError, StoreError } from "../store-error.ts";
import type { EtcdConnection } from "./wire/etcd-connection.ts";
import { LEASE_GRANT } from "./wire/etcd-protocol.ts";

/** Kube-apiserver's numbers: a lease is shared during this share of its lifetime, and at most for this time. */
const SHARED_PART = 0.05;
const MAX_SHARED_MS = 60_000;
/** Upper bound of keys per lease, since they all expire in one revision. */
const MAX_KEYS = 1_000;
/** Number of lifetimes for which a lease is remembered; servers use one or two. */
const MAX_KINDS = 64;
/** Margin for the time that the write takes to reach etcd. */
const MARGIN_MS = 500;

interface Lease {
  readonly id: number;
  /** Expiry by Loop.elapsed; etcd's own is never earlier. */
  readonly endsAt: number;
}

interface Kind {
  readonly lease: Promise<Lease>;
  keys: number;
}

export class Leases {
  readonly #loop: Loop;
  readonly #connection: EtcdConnection;
  /** Newest lease per lifetime. */
  readonly #kinds = new Map<number, Kind>();

  constructor(loop: Loop, connection: EtcdConnection) {
    this.#loop = loop;
    this.#connection = connection;
  }

  /** Returns a lease for this many keys written now. Fails with `Unavailable`. */
  async take(ttlMs: number, keys: number): Promise<number> {
    const known = this.#kinds.get(ttlMs);
    if (known !== undefined && known.keys + keys <= MAX_KEYS) {
      known.keys += keys;
      const lease = await known.lease;
      if (lease.endsAt >= this.#loop.elapsed() + ttlMs + MARGIN_MS) return lease.id;
    }
    // Another writer may have requested a new lease during the await.
    const newer = this.#kinds.get(ttlMs);
    if (newer !== undefined && newer !== known) return this.take(ttlMs, keys);
    return (await this.#grant(ttlMs, keys)).id;
  }

  /** Drops a lease that etcd no longer knows. */
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
      // A lease without keys has no effect, and the caller's transaction was not sent.
      throw new StoreError("Unavailable", error.message, { cause: error });
    }
  }

  /** Ids are chosen here, because etcd's do not fit a JavaScript number. Range 1 to 2^48, without repeats. */
  #newId(): number {
    let id = 0;
    for (const byte of this.#loop.random("leases").bytes(6)) id = id * 256 + byte;
    return id + 1;
  }
}
