import { notFound } from "../../api/api-error.ts";
import type { Answer } from "../answer.ts";
import type { Call, Workshop } from "../call.ts";
import { resourceVersionOf } from "../list-options.ts";
import { keyOf } from "../objects.ts";
import type { StoredResource } from "../registry.ts";
import { reachRevision } from "../revision-wait.ts";
import { StoredObject } from "../stored-object.ts";
import { groupResource } from "../write/object-writer.ts";

/** Without resourceVersion the newest state; with one, a state that is not older. */
export async function get(
  { resource, info, query }: Call<StoredResource>,
  { store, loop }: Workshop,
): Promise<Answer> {
  const asked = resourceVersionOf(query);
  if (asked !== undefined) await reachRevision(store, loop, asked);
  const view = asked === undefined ? await store.fresh() : store.view;
  const entry = view.get(keyOf(resource, info.namespace, info.name));
  if (entry === undefined) throw notFound(groupResource(resource), info.name);
  return { type: "stored", code: 200, stored: StoredObject.of(entry), resource };
}
