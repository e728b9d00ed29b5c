/** Counts the objects of any resource in a namespace without reading them all. */
import { isApiError } from "../../api/errors/api-error.ts";
import { isJsonObject } from "../../api/json/json-object.ts";
import type { Client } from "../../client/client.ts";
import type { CountedResource } from "../../resources/quota/usage.ts";

/** A resource that is not served has no objects. */
export async function countObjects(
  client: Client,
  { group, name }: CountedResource,
  namespace: string,
): Promise<number> {
  for (const root of await rootsOf(client, group)) {
    const path = `${root}/namespaces/${encodeURIComponent(namespace)}/${name}`;
    const list = await found(client.request({ path, query: { limit: "1" } }));
    if (list !== undefined) return lengthOf(list);
  }
  return 0;
}

/** Paths of the group's served versions, the preferred one first. */
async function rootsOf(client: Client, group: string): Promise<readonly string[]> {
  if (group === "") return ["/api/v1"];
  const document = await found(client.request({ path: `/apis/${group}` }));
  if (!isJsonObject(document) || !Array.isArray(document["versions"])) return [];
  const preferred = versionOf(document["preferredVersion"]);
  const others = document["versions"].map(versionOf).filter((version) => version !== preferred);
  return [preferred, ...others].map((version) => `/apis/${version}`);
}

function versionOf(value: unknown): string {
  return isJsonObject(value) && typeof value["groupVersion"] === "string" ? value["groupVersion"] : "";
}

async function found(answer: Promise<unknown>): Promise<unknown> {
  try {
    return await answer;
  } catch (error) {
    if (isApiError(error, "NotFound")) return undefined;
    throw error;
  }
}

function lengthOf(list: unknown): number {
  if (!isJsonObject(list) || !Array.isArray(list["items"])) return 0;
  const metadata = isJsonObject(list["metadata"]) ? list["metadata"] : {};
  const { remainingItemCount } = metadata;
  return list["items"].length + (typeof remainingItemCount === "number" ? remainingItemCount : 0);
}
