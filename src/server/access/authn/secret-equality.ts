/** Compares secrets in constant time: it reveals neither the first difference nor the expected length. */
import { createHash, timingSafeEqual } from "node:crypto";

export function isSameSecret(left: string, right: string): boolean {
  return timingSafeEqual(digestOf(left), digestOf(right));
}

function digestOf(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}
