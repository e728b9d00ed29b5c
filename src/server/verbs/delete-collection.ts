import { isApiError } from "../../api/errors/api-error.ts";
import type { DeleteOptions } from "../../api/generated/types/meta-v1.ts";
import { inParallel } from "../../base/loop/in-parallel.ts";
import type { StoredResource } from "../objects/registry.ts";
import { StoredObject } from "../objects/stored-object.ts";
import { prefixOf } from "../objects/versions.ts";
import type { Answer } from "../request/answer.ts";
import type { Call } from "../request/call.ts";
import type { WriteCall } from "../write/write-call.ts";
import { readDeleteOptions, removeOne, warnOfDependents } from "./delete.ts";
import type { ReadParts } from "./read/list.ts";
import { list } from "./read/list.ts";
import type { WriteParts } from "./writing.ts";

type CollectionParts = WriteParts & ReadParts;

/** Deletions in flight for one request. They share the store's commits. */
const WIDTH = 32;

/** Deletes the objects that a list with the same query returns. An object that is already gone is no error. */
export async function deleteCollection(
  call: WriteCall<StoredResource>,
  verbParts: CollectionParts,
): Promise<Answer> {
  const options = await readDeleteOptions(call);
  warnOfDependents(call, options);
  const found = await list(call, verbParts);
  const deleted = new Set<StoredObject>();
  await inParallel(found.items, WIDTH, async (stored) => {
    if (await removeListed(stored, { call, options, verbParts })) deleted.add(stored);
  });
  refuseUnreadable(call, verbParts);
  return { ...found, items: found.items.filter((stored) => deleted.has(stored)) };
}

interface Removal {
  readonly call: WriteCall<StoredResource>;
  readonly options: DeleteOptions;
  readonly verbParts: CollectionParts;
}

/** False if the object was already gone. */
async function removeListed(stored: StoredObject, { call, options, verbParts }: Removal): Promise<boolean> {
  const { name = "", namespace = "" } = stored.object.metadata;
  const { resource, user, notes, origin } = call;
  const target = { resource, namespace, name, user, notes, origin, request: "is about many" } as const;
  try {
    await removeOne(target, options, verbParts);
    return true;
  } catch (error) {
    if (isApiError(error, "NotFound")) return false;
    throw error;
  }
}

/** Throws for an unreadable value, after everything else is deleted. The namespace deletion must not take the namespace for empty. */
function refuseUnreadable(
  { resource, info }: Call<StoredResource>,
  { store, unreadable }: CollectionParts,
): void {
  const [first] = unreadable(prefixOf(resource, info.namespace));
  const entry = first === undefined ? undefined : store.view.get(first);
  if (entry !== undefined) StoredObject.of(entry);
}
