/**
 * Keeps the decoded form of recently written objects, so that the next writer need not parse their bytes. Only
 * objects with a shared spec are kept: the rest of such an object is small beside its bytes.
 */
import { isJsonObject } from "../../api/json/json-object.ts";
import type { JsonObject } from "../../api/json/json-object.ts";
import type { ApiObject } from "../../resources/rules/kind-rules.ts";

/** At about a kilobyte each, these take 30 MB. */
const OBJECTS_MAX = 32_768;
/** Bound of the object's JSON, spec included. Larger objects have much unshared content. */
const BYTES_MAX = 8192;

/** Slot of a kept object; undefined once the slot is reused. */
export interface RecentObject {
  readonly form: "recent";
  object: ApiObject | undefined;
}

/** Ring buffer: the next object takes the place of the oldest. */
const places: RecentObject[] = [];
let next = 0;

/** Returns undefined if the object is not kept. `bytes` is the length of its JSON. */
export function keepRecent(object: ApiObject, bytes: number): RecentObject | undefined {
  const { spec } = object as JsonObject;
  if (!isJsonObject(spec) || !Object.isFrozen(spec) || bytes > BYTES_MAX) return undefined;
  const oldest = places[next];
  if (oldest !== undefined) oldest.object = undefined;
  const kept: RecentObject = { form: "recent", object };
  places[next] = kept;
  next = (next + 1) % OBJECTS_MAX;
  return kept;
}
