/**
 * How much the store may hold. Everything that it holds lives on the heap of the process, so that without a quota a writer
 * could end the process. A full store refuses writes that add data and takes those that remove it.
 *
 * What is counted: the live entries, each with what it costs beside its bytes, and the history that is kept.
 */
import { StoreError } from "./store-error.ts";
import type { Entry, StoreSpace, Transaction, WatchEvent } from "./store.ts";

/** Heap of an entry beside its key and value: tree nodes, the object that readers share, its strings. */
const ENTRY_BYTES = 1024;

/** A full store is so until it holds no more than this share of its quota: otherwise it would be full and not full by turns. */
const CLEAR_AT = 0.9;

/**
 * Up to which share of the quota a write may add data. What is beyond the quota is a reserve, so that objects can be deleted
 * and the cluster's own loops go on. A write that only begins a deletion is not bound: each object has one.
 */
const LIMITS = {
  ending: 1.1,
  upkeep: 1.2,
  deletion: Infinity,
} as const;
/** More than a status or a condition takes: a key to which a write adds more is growth, whatever its purpose. */
const RESERVE_WRITE_BYTES = 16 * 1024;

/** As clients of Kubernetes know it from etcd. */
const MESSAGE = "etcdserver: mvcc: database space exceeded";

export function entryBytes({ key, value }: Pick<Entry, "key" | "value">): number {
  return ENTRY_BYTES + key.length + value.byteLength;
}

/** How much more the store holds after these changes. */
export function growthOf(events: readonly Pick<WatchEvent, "before" | "after">[]): number {
  let bytes = 0;
  for (const { before, after } of events) {
    if (after !== undefined) bytes += entryBytes(after);
    if (before !== undefined) bytes -= entryBytes(before);
  }
  return bytes;
}

export class SpaceQuota {
  readonly #maxBytes: number;
  #isFull = false;

  /** Undefined for no quota. */
  constructor(maxBytes: number | undefined) {
    this.#maxBytes = maxBytes ?? Infinity;
  }

  /** Whether the quota is reached, and was not left since. */
  look(usedBytes: number): StoreSpace {
    if (usedBytes > this.#maxBytes) this.#isFull = true;
    else if (usedBytes <= this.#maxBytes * CLEAR_AT) this.#isFull = false;
    const quotaBytes = this.#maxBytes === Infinity ? undefined : this.#maxBytes;
    return { usedBytes, quotaBytes, isFull: this.#isFull };
  }

  /** Whether there is room for a transaction that adds so much. */
  hasRoom(usedBytes: number, growthBytes: number, { changes, purpose = "growth" }: Transaction): boolean {
    if (growthBytes <= 0 || this.#maxBytes === Infinity) return true;
    const after = usedBytes + growthBytes;
    const { isFull } = this.look(usedBytes);
    if (!isFull && after <= this.#maxBytes) return true;
    if (purpose === "growth" || growthBytes > RESERVE_WRITE_BYTES * changes.length) return false;
    return after <= this.#maxBytes * LIMITS[purpose];
  }

  /** The error for a write without room: the store is full from now on. */
  refusal(): StoreError {
    this.#isFull = true;
    return new StoreError("NoSpace", MESSAGE);
  }
}
