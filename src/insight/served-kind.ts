import type { ResourceType } from "../api/api-object.ts";
import type { Client } from "../client/client.ts";
import { findResource, groupOf, readServedResources } from "../client/served-resources.ts";

/** The kind that a user names: `pod`, `po`, `deployments.apps`, `Deployment`. Undefined when the server serves none. */
export async function findServedKind(client: Client, text: string): Promise<ResourceType | undefined> {
  return findResource(text, await readServedResources(client));
}

/** All kinds that can be listed and report a status, each in its preferred version. */
export async function findStatusKinds(client: Client): Promise<readonly ResourceType[]> {
  const served = await readServedResources(client);
  const kinds = new Map<string, ResourceType>();
  for (const resource of served) {
    const id = `${resource.plural}.${groupOf(resource)}`;
    if (resource.hasStatus && resource.verbs.includes("list") && !kinds.has(id)) kinds.set(id, resource);
  }
  return [...kinds.values()];
}
