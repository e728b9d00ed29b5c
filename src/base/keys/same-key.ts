import type { KeyObject } from "node:crypto";

/**
 * True when two public keys are equal. For keys of different types, `KeyObject.equals` leaves an OpenSSL error behind.
 * The next key that is read then fails with it (seen in Node.js 20).
 */
export function isSameKey(a: KeyObject, b: KeyObject): boolean {
  return bytesOf(a).equals(bytesOf(b));
}

function bytesOf(key: KeyObject): Buffer {
  return key.export({ type: "spki", format: "der" });
}
