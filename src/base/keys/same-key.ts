import type { KeyObject } from "node:crypto";

/**
 * Whether two public keys are one. `KeyObject.equals` leaves an error behind when they are of different types, which the next key that anybody
 * reads then meets (seen with Node.js 20).
 */
export function isSameKey(a: KeyObject, b: KeyObject): boolean {
  return bytesOf(a).equals(bytesOf(b));
}

function bytesOf(key: KeyObject): Buffer {
  return key.export({ type: "spki", format: "der" });
}
