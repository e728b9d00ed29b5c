/** Copies of stored objects, which nobody may change, for drafts, which rules change at will. */

import { cloneJson } from "../../api/json/json-clone.ts";
import type { Draft } from "./kind-rules.ts";

export function draftCopy<T>(value: T): Draft<T> {
  return cloneJson(value) as Draft<T>;
}
