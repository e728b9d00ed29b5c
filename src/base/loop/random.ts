/** Random numbers from the operating system, or from streams that a seed determines. */

import { randomFillSync, randomUUID } from "node:crypto";
import { assert } from "../assert.ts";
import type { Random } from "./loop.ts";

const TWO_TO_32 = 2 ** 32;

/** Random numbers from the operating system, suitable for secrets. */
export function cryptoRandom(): Random {
  const pool = new Uint32Array(256);
  let used = pool.length;
  const word = (): number => {
    if (used === pool.length) {
      randomFillSync(pool);
      used = 0;
    }
    const drawn = pool[used] ?? 0;
    pool[used++] = 0;
    return drawn;
  };
  return { ...randomFrom(word), bytes: pooledBytes, uuid: () => randomUUID() };
}

/** Drawn bytes are zero. One pool for all streams: a call into the operating system takes as long as for a pool. */
const POOL = new Uint8Array(4096);
let poolUsed = POOL.length;

function pooledBytes(count: number): Uint8Array {
  if (count > POOL.length / 8) return randomFillSync(new Uint8Array(count));
  if (poolUsed + count > POOL.length) {
    randomFillSync(POOL);
    poolUsed = 0;
  }
  const end = poolUsed + count;
  const drawn = POOL.slice(poolUsed, end);
  POOL.fill(0, poolUsed, end);
  poolUsed = end;
  return drawn;
}

/** A stream that its parts determine, on every machine and in every version of Node. Not suitable for secrets. */
export function seededRandom(...parts: readonly (string | number)[]): Random {
  return randomFrom(sfc32(parts.join("\0")));
}

/** Hash of `text` with 32 well-mixed bits. */
export function hash32(text: string, basis = 0): number {
  let hash = basis ^ 0x811c9dc5;
  for (let i = 0; i < text.length; i++) {
    hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  }
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}

/** sfc32, the small fast counter generator of Chris Doty-Humphrey: 128 bits of state, passes PractRand. */
function sfc32(seed: string): () => number {
  let a = hash32(seed, 0x9e3779b9) | 0;
  let b = hash32(seed, 0x243f6a88) | 0;
  let c = hash32(seed, 0xb7e15162) | 0;
  let counter = 1;
  const word = (): number => {
    const sum = (((a + b) | 0) + counter) | 0;
    counter = (counter + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = (((c << 21) | (c >>> 11)) + sum) | 0;
    return sum >>> 0;
  };
  // Number of rounds, by its author, until streams of similar seeds are unrelated.
  for (let round = 0; round < 15; round++) word();
  return word;
}

function randomFrom(word: () => number): Random {
  const next = (): number => ((word() >>> 5) * 2 ** 26 + (word() >>> 6)) / 2 ** 53;
  const bytes = (count: number): Uint8Array => {
    const filled = new Uint8Array(count);
    for (let i = 0; i < count; i++) filled[i] = word() & 0xff;
    return filled;
  };
  return { next, below: (limit) => below(limit, word, next), bytes, uuid: () => uuidFrom(bytes(16)) };
}

/** Exactly uniform up to 2^32: numbers of the last, incomplete range are drawn again. */
function below(limit: number, word: () => number, next: () => number): number {
  // The message is made on failure only: as text, the number takes longer than the draw.
  if (!Number.isSafeInteger(limit) || limit <= 0)
    assert(false, `a limit is a positive integer, found ${limit}`);
  if (limit > TWO_TO_32) return Math.floor(next() * limit);
  const fair = TWO_TO_32 - (TWO_TO_32 % limit);
  let drawn = word();
  while (drawn >= fair) drawn = word();
  return drawn % limit;
}

function uuidFrom(bytes: Uint8Array): string {
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x40;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  const hex = Buffer.from(bytes).toString("hex");
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join("-");
}
