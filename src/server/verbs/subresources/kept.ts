import { cloneJson } from "../../../api/json/json-clone.ts";
import type { ApiObject, Draft } from "../../../resources/rules/kind-rules.ts";

/** Puts metadata back as it was: these endpoints write no labels and no owners. */
export function keepMetadata(draft: Draft<ApiObject>, { metadata }: ApiObject): void {
  draft.metadata = draftOf(metadata);
}

/** A copy that nobody else holds. */
export function draftOf<T>(value: T): Draft<T> {
  return cloneJson(value) as Draft<T>;
}
