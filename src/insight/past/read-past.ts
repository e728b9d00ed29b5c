/** Reads objects as they were. */
import type { ApiObject, ObjectKey, ResourceType } from "../../api/api-object.ts";
import { CAUSES_VERSION, type Revision } from "../../api/causes/change.ts";
import type { Client, ObjectList } from "../../client/client.ts";
import type { Moment } from "./moment.ts";

/** Revision of a moment. Rejects with `Expired` for a time that the server does not remember. */
export async function revisionAt(client: Client, moment: Moment): Promise<string> {
  if (moment.type === "revision") return moment.revision;
  const name = new Date(moment.at).toISOString();
  const path = `/apis/${CAUSES_VERSION}/revisions/${encodeURIComponent(name)}`;
  const { revision } = (await client.request({ path })) as Revision;
  return revision;
}

/** The object at a revision; undefined if it did not exist then. Rejects with `Expired` outside of the history. */
export async function findAt<T extends ApiObject>(
  client: Client,
  type: ResourceType<T>,
  { key, revision }: { readonly key: ObjectKey; readonly revision: string },
): Promise<T | undefined> {
  return await client(type).find(key, { resourceVersion: revision, resourceVersionMatch: "Exact" });
}

/** All objects at a revision, of one namespace or of all. */
export async function listAt<T extends ApiObject>(
  client: Client,
  type: ResourceType<T>,
  { namespace, revision }: { readonly namespace?: string; readonly revision: string },
): Promise<ObjectList<T>> {
  const options = { resourceVersion: revision, resourceVersionMatch: "Exact" } as const;
  return await client(type).list({ ...options, ...(namespace !== undefined && { namespace }) });
}
