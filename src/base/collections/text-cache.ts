/**
 * Caches values made from recurring texts, keyed by the text. Most texts never recur, so the first occurrence stores
 * only a hash.
 */

/** Entries of each of two generations. Hardly more are in use at once. */
const TEXTS_MAX = 256;
/** Longer texts are rare and would take much memory. */
const TEXT_BYTES_MAX = 16 * 1024;
/** Hashes of each of two generations of texts that occurred once. */
const HASHES_MAX = 4096;

interface Cached<V> {
  readonly bytes: Buffer;
  readonly value: V;
}

/** A text in UTF-8 as a part of a buffer. The cache reads the buffer and does not retain it. */
export interface TextSpan {
  readonly bytes: Buffer;
  readonly start: number;
  readonly end: number;
}

export class TextCache<V> {
  /** Keyed by the hash of the text: two texts with the same hash only replace each other. */
  #young = new Map<number, Cached<V>>();
  /** Entries last used before the young generation began; dropped when the young generation is full. */
  #old: ReadonlyMap<number, Cached<V>> = new Map();
  #youngHashes = new Set<number>();
  #oldHashes: ReadonlySet<number> = new Set();

  find(text: TextSpan): V | undefined {
    if (text.end - text.start > TEXT_BYTES_MAX) return undefined;
    const hash = hashOf(text);
    const young = this.#young.get(hash);
    if (young !== undefined && isText(young, text)) return young.value;
    const old = this.#old.get(hash);
    if (old === undefined || !isText(old, text)) return undefined;
    this.#put(hash, old);
    return old.value;
  }

  /**
   * Records the text, and returns true if it occurred before. Equal hashes count as one text. False for a text too
   * long to keep.
   */
  recurs(text: TextSpan): boolean {
    if (text.end - text.start > TEXT_BYTES_MAX) return false;
    const hash = hashOf(text);
    if (this.#youngHashes.has(hash) || this.#oldHashes.has(hash)) return true;
    if (this.#youngHashes.size === HASHES_MAX) {
      this.#oldHashes = this.#youngHashes;
      this.#youngHashes = new Set();
    }
    this.#youngHashes.add(hash);
    return false;
  }

  keep(text: TextSpan, value: V): void {
    const { bytes, start, end } = text;
    if (end - start > TEXT_BYTES_MAX) return;
    this.#put(hashOf(text), { bytes: Buffer.from(bytes.subarray(start, end)), value });
  }

  #put(hash: number, cached: Cached<V>): void {
    if (this.#young.size === TEXTS_MAX && !this.#young.has(hash)) {
      this.#old = this.#young;
      this.#young = new Map();
    }
    this.#young.set(hash, cached);
  }
}

/** Buffer into which texts are encoded for a lookup. Its size covers the longest text that is looked up. */
const scratch = Buffer.allocUnsafeSlow(3 * TEXT_BYTES_MAX + 1);

/** Encodes the text as UTF-8 for a lookup. The text must have no lone surrogates. Valid until the next call. */
export function spanOf(text: string): TextSpan {
  const end = text.length > TEXT_BYTES_MAX ? scratch.length : scratch.write(text);
  return { bytes: scratch, start: 0, end };
}

function isText<V>(cached: Cached<V>, { bytes, start, end }: TextSpan): boolean {
  return (
    cached.bytes.length === end - start &&
    bytes.compare(cached.bytes, 0, cached.bytes.length, start, end) === 0
  );
}

/** Hashes four bytes at a time. A shorter last group overlaps the one before. */
function hashOf({ bytes, start, end }: TextSpan): number {
  const words = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const last = end - 4;
  let hash = end - start;
  for (let at = start; at < last; at += 4) hash = Math.imul(hash ^ words.getInt32(at, true), 0x01000193);
  if (last >= start) hash = Math.imul(hash ^ words.getInt32(last, true), 0x01000193);
  return hash;
}
