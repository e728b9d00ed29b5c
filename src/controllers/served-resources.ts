/** Reads from discovery the resources that the server serves now, custom resources included. */
import type { ResourceType } from "../api/api-object.ts";
import { isJsonObject } from "../api/json/json-object.ts";
import type { JsonObject } from "../api/json/json-object.ts";
import type { Client } from "../client/client.ts";

export interface ServedResource extends ResourceType {
  /** Empty for the core group. */
  readonly group: string;
  readonly verbs: readonly string[];
}

export interface ServedResources {
  /** Each resource once, in the first version that serves it; the group's preferred version comes first. */
  readonly preferred: readonly ServedResource[];
  /** Finds a resource in any version by `apiVersion` and kind. */
  readonly findType: (apiVersion: string, kind: string) => ServedResource | undefined;
  /** Errors by group version whose discovery document could not be read. Their resources are missing above. */
  readonly failures: ReadonlyMap<string, Error>;
}

/** Upper bound of concurrent discovery requests. */
const PARALLEL = 8;

/** Rejects if the list of groups cannot be read. */
export async function readServedResources(client: Client): Promise<ServedResources> {
  const [core, groups] = await Promise.all([
    client.request({ path: "/api" }),
    client.request({ path: "/apis" }),
  ]);
  const versions = [...coreVersions(core), ...listOf(groups, "groups").flatMap(groupVersions)];
  const resources: ServedResource[] = [];
  const failures = new Map<string, Error>();
  for (let at = 0; at < versions.length; at += PARALLEL) {
    const batch = versions.slice(at, at + PARALLEL);
    const results = await Promise.allSettled(batch.map((version) => readVersion(client, version)));
    for (const [index, result] of results.entries()) {
      if (result.status === "fulfilled") resources.push(...result.value);
      else failures.set(batch[index] ?? "", result.reason as Error);
    }
  }
  return { preferred: preferredOf(resources), findType: finderOf(resources), failures };
}

function coreVersions(document: unknown): readonly string[] {
  const versions = isJsonObject(document) ? document["versions"] : undefined;
  return Array.isArray(versions) ? versions.map(String) : [];
}

/** Preferred version first, then the others in the server's order. */
function groupVersions(group: JsonObject): readonly string[] {
  const preferred = textOf(group["preferredVersion"], "groupVersion");
  const others = listOf(group, "versions").map((version) => textOf(version, "groupVersion"));
  return [preferred, ...others.filter((version) => version !== preferred)].filter((text) => text !== "");
}

async function readVersion(client: Client, apiVersion: string): Promise<readonly ServedResource[]> {
  const path = apiVersion.includes("/") ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
  const document = await client.request({ path });
  return listOf(document, "resources").flatMap((resource) => resourceOf(apiVersion, resource));
}

/** Skips subresources: their names contain a slash. */
function resourceOf(apiVersion: string, resource: JsonObject): readonly ServedResource[] {
  const { name, kind, namespaced, verbs } = resource;
  if (typeof name !== "string" || typeof kind !== "string" || name.includes("/")) return [];
  const group = apiVersion.includes("/") ? apiVersion.slice(0, apiVersion.indexOf("/")) : "";
  return [
    {
      apiVersion,
      group,
      kind,
      plural: name,
      namespaced: namespaced === true,
      verbs: Array.isArray(verbs) ? verbs.map(String) : [],
    },
  ];
}

function preferredOf(resources: readonly ServedResource[]): readonly ServedResource[] {
  const byName = new Map<string, ServedResource>();
  for (const resource of resources) {
    const name = `${resource.plural}.${resource.group}`;
    if (!byName.has(name)) byName.set(name, resource);
  }
  return [...byName.values()];
}

function finderOf(resources: readonly ServedResource[]): ServedResources["findType"] {
  const byKind = new Map(
    resources.map((resource) => [kindName(resource.apiVersion, resource.kind), resource]),
  );
  return (apiVersion, kind) => byKind.get(kindName(apiVersion, kind));
}

function kindName(apiVersion: string, kind: string): string {
  return `${apiVersion} ${kind}`;
}

function listOf(value: unknown, member: string): readonly JsonObject[] {
  const list = isJsonObject(value) ? value[member] : undefined;
  return Array.isArray(list) ? list.filter(isJsonObject) : [];
}

function textOf(value: unknown, member: string): string {
  const text = isJsonObject(value) ? value[member] : undefined;
  return typeof text === "string" ? text : "";
}
