/** Adds and removes a finalizer. The resourceVersion guards each write, so that no other finalizer is lost. */
import type { ApiObject } from "../../api/api-object.ts";
import { isApiError } from "../../api/errors/api-error.ts";
import type { ResourceClient } from "../../client/client.ts";

/** Upper bound of attempts when other writers keep changing the object; then the pass fails and is retried. */
const TRIES_MAX = 5;

export function hasFinalizer({ metadata }: ApiObject, finalizer: string): boolean {
  return metadata.finalizers?.includes(finalizer) ?? false;
}

/**
 * Returns the object with the finalizer. Undefined when the object is gone or being deleted: then it may get none.
 */
export async function addFinalizer<T extends ApiObject>(
  client: ResourceClient<T>,
  object: T,
  finalizer: string,
): Promise<T | undefined> {
  const change = (newest: T): readonly string[] | undefined =>
    hasFinalizer(newest, finalizer) ? undefined : [...(newest.metadata.finalizers ?? []), finalizer];
  const changed = await writeFinalizers(client, object, change);
  return changed?.metadata.deletionTimestamp === undefined ? changed : undefined;
}

/** No-op when the finalizer or the object is gone. */
export async function removeFinalizer<T extends ApiObject>(
  client: ResourceClient<T>,
  object: T,
  finalizer: string,
): Promise<void> {
  const change = (newest: T): readonly string[] | undefined =>
    hasFinalizer(newest, finalizer)
      ? newest.metadata.finalizers?.filter((each) => each !== finalizer)
      : undefined;
  await writeFinalizers(client, object, change);
}

/** Writes the finalizers that `change` returns for the newest object; no write when it returns undefined. */
async function writeFinalizers<T extends ApiObject>(
  client: ResourceClient<T>,
  object: T,
  change: (newest: T) => readonly string[] | undefined,
): Promise<T | undefined> {
  let newest: T | undefined = object;
  for (let tries = 1; newest !== undefined; tries++) {
    const finalizers = change(newest);
    if (finalizers === undefined) return newest;
    try {
      return await client.patch(newest, { type: "merge", changes: guarded(newest, finalizers) });
    } catch (error) {
      if (isApiError(error, "NotFound")) return undefined;
      if (!isApiError(error, "Conflict") || tries === TRIES_MAX) throw error;
    }
    newest = await readAgain(client, object);
  }
  return undefined;
}

function guarded({ metadata: { uid, resourceVersion } }: ApiObject, finalizers: readonly string[]): unknown {
  return { metadata: { uid, resourceVersion, finalizers: finalizers.length === 0 ? null : finalizers } };
}

/** Undefined when the object is gone, or another one has its name. */
async function readAgain<T extends ApiObject>(client: ResourceClient<T>, object: T): Promise<T | undefined> {
  const newest = await client.find(object);
  return newest?.metadata.uid === object.metadata.uid ? newest : undefined;
}
