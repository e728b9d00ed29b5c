/** Copies of stored objects, which nobody may change, for drafts, which rules change at will. */

import type { Draft } from "./kind-rules.ts";

export function draftCopy<T>(value: T): Draft<T> {
  return structuredClone(value) as Draft<T>;
}
