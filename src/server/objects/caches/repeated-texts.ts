/**
 * Caches values made from recurring texts, keyed by the text. Most texts never recur, so the first occurrence stores
 * only a hash.
 */

/** Entries of each of two generations. Hardly more are in use at once. */
const TEXTS_MAX = 256;
/** Longer texts are rare and would take much memory. */
const TEXT_BYTES_MAX = 16 * 1024;
/** Hashes of each of two generations of texts that occurred once. */
const MARKS_MAX = 4096;

interface Kept<V> {
  readonly bytes: Buffer;
  readonly value: V;
}

/** A part of a buffer, which is read and not retained. */
export interface Span {
  readonly bytes: Buffer;
  readonly start: number;
  readonly end: number;
}

export class RepeatedTexts<V> {
  /** Keyed by the hash of the text: two texts with the same hash only replace each other. */
  #young = new Map<number, Kept<V>>();
  /** Entries last used before the young generation began; dropped when the young generation is full. */
  #old: ReadonlyMap<number, Kept<V>> = new Map();
  #youngMarks = new Set<number>();
  #oldMarks: ReadonlySet<number> = new Set();

  find(span: Span): V | undefined {
    if (span.end - span.start > TEXT_BYTES_MAX) return undefined;
    const hash = hashOf(span);
    const young = this.#young.get(hash);
    if (young !== undefined && isText(young, span)) return young.value;
    const old = this.#old.get(hash);
    if (old === undefined || !isText(old, span)) return undefined;
    this.#put(hash, old);
    return old.value;
  }

  /**
   * Records the text, and returns true if it occurred before. Equal hashes count as one text. False for a text too
   * long to keep.
   */
  hasCome(span: Span): boolean {
    if (span.end - span.start > TEXT_BYTES_MAX) return false;
    const hash = hashOf(span);
    if (this.#youngMarks.has(hash) || this.#oldMarks.has(hash)) return true;
    if (this.#youngMarks.size === MARKS_MAX) {
      this.#oldMarks = this.#youngMarks;
      this.#youngMarks = new Set();
    }
    this.#youngMarks.add(hash);
    return false;
  }

  keep(span: Span, value: V): void {
    const { bytes, start, end } = span;
    if (end - start > TEXT_BYTES_MAX) return;
    this.#put(hashOf(span), { bytes: Buffer.from(bytes.subarray(start, end)), value });
  }

  #put(hash: number, kept: Kept<V>): void {
    if (this.#young.size === TEXTS_MAX && !this.#young.has(hash)) {
      this.#old = this.#young;
      this.#young = new Map();
    }
    this.#young.set(hash, kept);
  }
}

/** Buffer into which texts are encoded for a lookup. Its size covers the longest text that is looked up. */
const scratch = Buffer.allocUnsafeSlow(3 * TEXT_BYTES_MAX + 1);

/** Encodes the text as UTF-8 for a lookup. The text must have no lone surrogates. Valid until the next call. */
export function spanOf(text: string): Span {
  const end = text.length > TEXT_BYTES_MAX ? scratch.length : scratch.write(text);
  return { bytes: scratch, start: 0, end };
}

function isText<V>(kept: Kept<V>, { bytes, start, end }: Span): boolean {
  return (
    kept.bytes.length === end - start && bytes.compare(kept.bytes, 0, kept.bytes.length, start, end) === 0
  );
}

/** Hashes four bytes at a time. A shorter last group overlaps the one before. */
function hashOf({ bytes, start, end }: Span): number {
  const words = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const last = end - 4;
  let hash = end - start;
  for (let at = start; at < last; at += 4) hash = Math.imul(hash ^ words.getInt32(at, true), 0x01000193);
  if (last >= start) hash = Math.imul(hash ^ words.getInt32(last, true), 0x01000193);
  return hash;
}
