/**
 * The quota of the store. Readers keep decoded values on the heap, so without a quota a writer could exhaust the
 * process's memory. A full store refuses writes that add data and accepts those that remove it. The quota counts the
 * heap of live entries with their decoded values, and of the history.
 */
import { StoreError } from "./store-error.ts";
import type { Entry, StoreSpace, Transaction } from "./store.ts";

/** Heap of an entry besides its key and value: tree nodes, the shared decoded object, its strings. */
const ENTRY_BYTES = 1024;

/**
 * Heap per character of JSON when the value is decoded, measured with JSON.parse. A long text costs its bytes; a map of
 * many short strings costs five times its bytes, a pod three times.
 */
const DECODED_BYTES = decodedBytesTable({ '"': 11, ",": 2, "{": 16, "[": 12 });
/** Number of sampled characters: a full scan of each value would cost a write some percent of its CPU. */
const SAMPLES = 128;
/** Step between samples: its multiples modulo 1 spread evenly and match no period of a text. */
const GOLDEN_RATIO = 0.618_033_988_749_894_9;

/**
 * A full store stays full until its usage falls to this share of the quota. Otherwise it would flip between full and
 * not full.
 */
const CLEAR_AT = 0.9;

/**
 * Share of the quota up to which a write may add data. The part above the quota is a reserve for deleting objects and
 * for the cluster's own loops. A write that only starts a deletion is unlimited: each object has one.
 */
const LIMITS = {
  ending: 1.1,
  upkeep: 1.2,
  deletion: Infinity,
} as const;
/** More than a status or a condition needs: a larger addition to a key counts as growth, whatever its purpose. */
const RESERVE_WRITE_BYTES = 16 * 1024;

/** Etcd's text, which Kubernetes clients know. */
const MESSAGE = "etcdserver: mvcc: database space exceeded";

/** Estimated heap of an entry once its value is decoded. */
export function entryBytes({ key, value, modRevision }: MeasuredEntry): number {
  return ENTRY_BYTES + key.length + value.byteLength + decodedBytes(value, modRevision);
}

/** An entry to measure; a value that is not written yet has no revision. */
export type MeasuredEntry = Pick<Entry, "key" | "value"> & { readonly modRevision?: number };

/** Estimate from samples. The revision selects them, so that a client cannot place its data around them. */
function decodedBytes(value: Uint8Array, modRevision = 0): number {
  const { length } = value;
  let bytes = 0;
  if (length <= SAMPLES) {
    for (let at = 0; at < length; at++) bytes += DECODED_BYTES[value[at] ?? 0] ?? 0;
    return dense(bytes, length);
  }
  const stride = length / SAMPLES;
  let offset = (modRevision * GOLDEN_RATIO) % 1;
  for (let sample = 0; sample < SAMPLES; sample++) {
    offset += GOLDEN_RATIO;
    // In place of the remainder of 1, which takes most of the time.
    if (offset >= 1) offset -= 1;
    bytes += DECODED_BYTES[value[Math.trunc((sample + offset) * stride)] ?? 0] ?? 0;
  }
  return dense(Math.round(bytes * stride), length);
}

/** Pods stay below this ratio of decoded size and bytes. */
const USUAL_RATIO = 2.5;

/** Maps of many short values cost more than the sum of their parts: V8 keeps them as hash tables with room to grow. */
function dense(bytes: number, length: number): number {
  return Math.round(bytes + 0.8 * Math.max(0, bytes - USUAL_RATIO * length));
}

function decodedBytesTable(weights: Readonly<Record<string, number>>): Uint8Array {
  const table = new Uint8Array(256);
  for (const [character, bytes] of Object.entries(weights)) table[character.charCodeAt(0)] = bytes;
  return table;
}

/** Increase in size by a set of changes. */
export interface Growth {
  /** Bytes of memory, by `entryBytes`. */
  readonly bytes: number;
  /** Whether keys and values get longer in total. The estimate of memory may rise even when they do not. */
  readonly isLonger: boolean;
}

export interface Replacement {
  readonly before: MeasuredEntry | undefined;
  readonly after: MeasuredEntry | undefined;
}

export function growthOf(replacements: readonly Replacement[]): Growth {
  let bytes = 0;
  let length = 0;
  for (const { before, after } of replacements) {
    if (after !== undefined) bytes += entryBytes(after);
    if (before !== undefined) bytes -= entryBytes(before);
    length += lengthOf(after) - lengthOf(before);
  }
  return { bytes, isLonger: length > 0 };
}

function lengthOf(entry: MeasuredEntry | undefined): number {
  return entry === undefined ? 0 : entry.key.length + entry.value.byteLength;
}

export class SpaceQuota {
  readonly #maxBytes: number;
  #isFull = false;

  /** `maxBytes` undefined means no quota. */
  constructor(maxBytes: number | undefined) {
    this.#maxBytes = maxBytes ?? Infinity;
  }

  /** Current usage; `isFull` stays true until the usage has fallen below the threshold. */
  look(usedBytes: number): StoreSpace {
    if (usedBytes > this.#maxBytes) this.#isFull = true;
    else if (usedBytes <= this.#maxBytes * CLEAR_AT) this.#isFull = false;
    const quotaBytes = this.#maxBytes === Infinity ? undefined : this.#maxBytes;
    return { usedBytes, quotaBytes, isFull: this.#isFull };
  }

  /** Whether there is space for the growth of a transaction. */
  hasRoom(usedBytes: number, growth: Growth, { changes, purpose = "growth" }: Transaction): boolean {
    if (growth.bytes <= 0 || this.#maxBytes === Infinity) return true;
    const after = usedBytes + growth.bytes;
    const { isFull } = this.look(usedBytes);
    if (!isFull && after <= this.#maxBytes) return true;
    if (purpose === "growth") return !growth.isLonger && after <= this.#maxBytes * LIMITS.ending;
    return growth.bytes <= RESERVE_WRITE_BYTES * changes.length && after <= this.#maxBytes * LIMITS[purpose];
  }

  /** Returns the error for a refused write; the store is full from now on. */
  refusal(): StoreError {
    this.#isFull = true;
    return new StoreError("NoSpace", MESSAGE);
  }
}
