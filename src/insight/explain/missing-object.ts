/** The error for an object that does not exist: with the name that may have been meant, and where an object of that name is. */
import type { ApiObject, ResourceType } from "../../api/api-object.ts";
import { isApiError, notFound } from "../../api/errors/api-error.ts";
import type { Client, ListOptions } from "../../client/client.ts";
import { groupOf } from "../../client/served-resources.ts";
import { nearestOf } from "../text/nearest-text.ts";

/** Names that are compared. */
const NAMES_MAX = 500;

export interface Missing {
  readonly type: ResourceType;
  /** Empty for a cluster-scoped kind. */
  readonly namespace: string;
  readonly name: string;
}

export async function missingObject(client: Client, { type, namespace, name }: Missing): Promise<Error> {
  const { message } = notFound({ group: groupOf(type), resource: type.plural }, name);
  const [near, namesakes] = await Promise.all([
    readable(client, type, namespace === "" ? {} : { namespace }),
    namespace === "" ? [] : readable(client, type, { fieldSelector: `metadata.name=${name}` }),
  ]);
  const elsewhere = namesakes.map(({ metadata }) => metadata.namespace ?? "");
  const place = namespace === "" ? "" : ` in namespace ${namespace}`;
  if (elsewhere.length > 0) {
    const names = elsewhere.slice(0, 3).join(", ");
    return new Error(`${message}${place}; one exists in namespace ${names}: add -n ${elsewhere[0] ?? ""}`);
  }
  const nearest = nearestOf(
    name,
    near.map(({ metadata }) => metadata.name ?? ""),
  );
  return new Error(`${message}${place}${nearest === undefined ? "" : `; did you mean ${nearest}?`}`);
}

async function readable(
  client: Client,
  type: ResourceType,
  options: ListOptions,
): Promise<readonly ApiObject[]> {
  try {
    return (await client(type).list({ ...options, form: "metadata", limit: NAMES_MAX })).items;
  } catch (error) {
    if (isApiError(error)) return [];
    throw error;
  }
}
