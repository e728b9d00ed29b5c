/** Compares secrets so that the time it takes says nothing of where they differ, nor of how long the right one is. */
import { createHash, timingSafeEqual } from "node:crypto";

export function isSameSecret(left: string, right: string): boolean {
  return timingSafeEqual(digestOf(left), digestOf(right));
}

function digestOf(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}
