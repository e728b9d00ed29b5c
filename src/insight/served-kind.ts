import type { ResourceType } from "../api/api-object.ts";
import type { Client } from "../client/client.ts";
import { findResource, readServedResources } from "../client/served-resources.ts";

/** The kind that a user names: `pod`, `po`, `deployments.apps`, `Deployment`. Undefined when the server serves none. */
export async function findServedKind(client: Client, text: string): Promise<ResourceType | undefined> {
  return findResource(text, await readServedResources(client));
}
