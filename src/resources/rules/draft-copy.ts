/** Copies an immutable stored object into a draft that rules may change. */

import { cloneJson } from "../../api/json/json-clone.ts";
import type { Draft } from "./kind-rules.ts";

export function draftCopy<T>(value: T): Draft<T> {
  return cloneJson(value) as Draft<T>;
}
