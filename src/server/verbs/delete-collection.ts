import { isApiError } from "../../api/errors/api-error.ts";
import type { StoredResource } from "../objects/registry.ts";
import { StoredObject } from "../objects/stored-object.ts";
import { prefixOf } from "../objects/versions.ts";
import type { Answer } from "../request/answer.ts";
import type { Call } from "../request/call.ts";
import { readDeleteOptions, removeOne, warnOfDependents } from "./delete.ts";
import { list } from "./read/list.ts";
import type { VerbParts } from "./verb.ts";

/** Deletes the objects that a list with the same query returns, one by one. An object that is already gone is no error. */
export async function deleteCollection(call: Call<StoredResource>, verbParts: VerbParts): Promise<Answer> {
  const options = await readDeleteOptions(call);
  warnOfDependents(call, options);
  const found = await list(call, verbParts);
  const items: StoredObject[] = [];
  for (const stored of found.items) {
    const { name = "", namespace = "" } = stored.object.metadata;
    try {
      const { resource, user, notes } = call;
      const target = { resource, namespace, name, user, notes, request: "is about many" } as const;
      await removeOne(target, options, verbParts);
      items.push(stored);
    } catch (error) {
      if (!isApiError(error, "NotFound")) throw error;
    }
  }
  refuseUnreadable(call, verbParts);
  return { ...found, items };
}

/** Throws for an unreadable value, after everything else is deleted. The namespace deletion must not take the namespace for empty. */
function refuseUnreadable({ resource, info }: Call<StoredResource>, { store, unreadable }: VerbParts): void {
  const [first] = unreadable(prefixOf(resource, info.namespace));
  const entry = first === undefined ? undefined : store.view.get(first);
  if (entry !== undefined) StoredObject.of(entry);
}
