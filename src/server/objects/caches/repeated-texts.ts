/**
 * What was made of texts that come again and again, found by the text itself. Nothing is kept of a text that came once but a number: most of them
 * never come again.
 */

/** Of each of two generations. More are hardly in use at once. */
const TEXTS_MAX = 256;
/** Longer texts are rare, and would take much memory. */
const TEXT_BYTES_MAX = 16 * 1024;
/** Of each of two generations of texts that came once. */
const MARKS_MAX = 4096;

interface Kept<V> {
  readonly bytes: Buffer;
  readonly value: V;
}

/** A part of a buffer, which is looked at and not kept. */
export interface Span {
  readonly bytes: Buffer;
  readonly start: number;
  readonly end: number;
}

export class RepeatedTexts<V> {
  /** By the hash of the text: two texts with the same one only push each other out. */
  #young = new Map<number, Kept<V>>();
  /** Those that were last used before the young ones began: dropped when the young are as many again. */
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

  /** Whether the text, which was not found, has come before; texts with the same hash count as one. False for what is too long to be kept. */
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

/** Where texts become bytes to be looked at. None of those that are looked for needs more. */
const scratch = Buffer.allocUnsafeSlow(3 * TEXT_BYTES_MAX + 1);

/** Of a text as JSON has it, with all its characters in pairs. Holds until the next text is asked about. */
export function spanOf(text: string): Span {
  const end = text.length > TEXT_BYTES_MAX ? scratch.length : scratch.write(text);
  return { bytes: scratch, start: 0, end };
}

function isText<V>(kept: Kept<V>, { bytes, start, end }: Span): boolean {
  return (
    kept.bytes.length === end - start && bytes.compare(kept.bytes, 0, kept.bytes.length, start, end) === 0
  );
}

/** Four bytes at a time. The last ones are looked at twice where they are no four. */
function hashOf({ bytes, start, end }: Span): number {
  const words = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const last = end - 4;
  let hash = end - start;
  for (let at = start; at < last; at += 4) hash = Math.imul(hash ^ words.getInt32(at, true), 0x01000193);
  if (last >= start) hash = Math.imul(hash ^ words.getInt32(last, true), 0x01000193);
  return hash;
}
