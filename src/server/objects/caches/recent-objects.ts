/**
 * Decoded forms of the objects that were written last, so that whoever writes them next need not read their bytes. Only what shares its spec with
 * others is kept: all else that is in it is small beside the bytes.
 */
import { isJsonObject } from "../../../api/json/json-object.ts";
import type { JsonObject } from "../../../api/json/json-object.ts";
import type { ApiObject } from "../../../resources/rules/kind-rules.ts";

/** With about a kilobyte each these are 30 MB. */
const OBJECTS_MAX = 32_768;
/** Of the JSON of an object, its spec included. Larger ones have much that is their own. */
const BYTES_MAX = 8192;

/** A place for an object, which may be needed for another one. */
export interface Kept {
  object: ApiObject | undefined;
}

/** In the order in which they came; the next one takes the place of the oldest. */
const places: Kept[] = [];
let next = 0;

/** Undefined for what is not kept. `bytes` is the length of its JSON. */
export function keepObject(object: ApiObject, bytes: number): Kept | undefined {
  const { spec } = object as unknown as JsonObject;
  if (!isJsonObject(spec) || !Object.isFrozen(spec) || bytes > BYTES_MAX) return undefined;
  const oldest = places[next];
  if (oldest !== undefined) oldest.object = undefined;
  const kept = { object };
  places[next] = kept;
  next = (next + 1) % OBJECTS_MAX;
  return kept;
}
