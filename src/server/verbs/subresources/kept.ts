import { cloneJson } from "../../../api/json/json-clone.ts";
import type { ApiObject, Draft } from "../../../resources/rules/kind-rules.ts";

/** Restores the metadata: these endpoints write no labels and no owners. */
export function keepMetadata(draft: Draft<ApiObject>, { metadata }: ApiObject): void {
  draft.metadata = draftOf(metadata);
}

export function draftOf<T>(value: T): Draft<T> {
  return cloneJson(value) as Draft<T>;
}
