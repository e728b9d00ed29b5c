import type { KeyObject } from "node:crypto";

/**
 * True when two public keys are equal. `KeyObject.equals` leaves an OpenSSL error behind for keys of different types,
 * and the next key that is read fails with it (seen in Node.js 20).
 */
export function isSameKey(a: KeyObject, b: KeyObject): boolean {
  return bytesOf(a).equals(bytesOf(b));
}

function bytesOf(key: KeyObject): Buffer {
  return key.export({ type: "spki", format: "der" });
}
