/**
 * Reads the resources in an extension server's discovery, up to a limit. Controllers need memory, a connection and metrics for each
 * resource. A large document must therefore not produce thousands of them.
 */
import { isJsonObject } from "../../api/json/json-object.ts";
import type { JsonObject } from "../../api/json/json-object.ts";

/** The largest built-in group has two dozen. Servers that list each metric as a resource have a few hundred. */
export const RESOURCES_MAX = 500;
const SUBRESOURCES_MAX = 50;
const TEXTS_MAX = 20;
/** Longest name of a resource, kind or group. */
const TEXT_CHARS_MAX = 253;

export interface GroupPlace {
  readonly group: string;
  readonly version: string;
}

export interface RemoteResources {
  /** Resources as members of the aggregated form. */
  readonly resources: readonly JsonObject[];
  /** Number of resources and subresources beyond the limits. */
  readonly leftOut: number;
}

/** Resources of one version in an `APIGroupDiscoveryList`. Undefined if the document lacks the version. */
export function resourcesInList(
  document: unknown,
  { group, version }: GroupPlace,
): RemoteResources | undefined {
  for (const item of objectsIn(document, "items")) {
    const { metadata } = item;
    if (!isJsonObject(metadata) || metadata["name"] !== group) continue;
    const found = objectsIn(item, "versions").find((each) => each["version"] === version);
    if (found === undefined) continue;
    const named = objectsIn(found, "resources").filter(({ resource }) => isName(resource));
    return bounded(
      named.map((resource) => ({ resource, subresources: objectsIn(resource, "subresources") })),
    );
  }
  return undefined;
}

/** Resources in an `APIResourceList`, with subresources grouped under their resource. */
export function resourcesInPlainList(document: unknown, place: GroupPlace): RemoteResources {
  const found = new Map<string, Found>();
  const all = objectsIn(document, "resources").filter(({ name }) => isName(name));
  for (const resource of all) {
    const name = String(resource["name"]);
    if (!name.includes("/"))
      found.set(name, { resource: resourceMembers(resource, place), subresources: [] });
  }
  for (const resource of all) {
    const [name = "", subresource] = String(resource["name"]).split("/", 2);
    if (subresource === undefined) continue;
    const responseKind = kindOf(resource, place);
    found.get(name)?.subresources.push({ subresource, responseKind, verbs: resource["verbs"] });
  }
  return bounded([...found.values()]);
}

interface Found {
  readonly resource: JsonObject;
  readonly subresources: JsonObject[];
}

function bounded(all: readonly Found[]): RemoteResources {
  const kept = all.slice(0, RESOURCES_MAX);
  let leftOut = all.length - kept.length;
  const resources = kept.map(({ resource, subresources }) => {
    const own = subresources.filter(({ subresource }) => isName(subresource));
    const some = own.slice(0, SUBRESOURCES_MAX);
    leftOut += own.length - some.length;
    return keptResource(resource, some);
  });
  return { resources, leftOut };
}

/** Keeps the members that clients know, in the order of built-in resources. */
function keptResource(resource: JsonObject, subresources: readonly JsonObject[]): JsonObject {
  const { resource: name, responseKind, scope, singularResource } = resource;
  const [shortNames, categories] = [textsIn(resource, "shortNames"), textsIn(resource, "categories")];
  return {
    resource: name,
    ...(isJsonObject(responseKind) && { responseKind: keptKind(responseKind) }),
    ...(isShort(scope) && { scope }),
    ...(isShort(singularResource) && { singularResource }),
    verbs: textsIn(resource, "verbs"),
    ...(shortNames.length > 0 && { shortNames }),
    ...(categories.length > 0 && { categories }),
    ...(subresources.length > 0 && { subresources: subresources.map(keptSubresource) }),
  };
}

function keptSubresource(subresource: JsonObject): JsonObject {
  const { subresource: name, responseKind } = subresource;
  return {
    subresource: name,
    ...(isJsonObject(responseKind) && { responseKind: keptKind(responseKind) }),
    verbs: textsIn(subresource, "verbs"),
  };
}

function keptKind({ group, version, kind }: JsonObject): JsonObject {
  return {
    ...(isShort(group) && { group }),
    ...(isShort(version) && { version }),
    ...(isShort(kind) && { kind }),
  };
}

function resourceMembers(resource: JsonObject, place: GroupPlace): JsonObject {
  const { name, singularName, namespaced, verbs, shortNames, categories } = resource;
  return {
    resource: name,
    responseKind: kindOf(resource, place),
    scope: namespaced === true ? "Namespaced" : "Cluster",
    singularResource: typeof singularName === "string" ? singularName : "",
    verbs,
    shortNames,
    categories,
  };
}

function kindOf({ group, version, kind }: JsonObject, place: GroupPlace): JsonObject {
  const isOwn = typeof group === "string" && group !== "" && typeof version === "string";
  return { ...(isOwn ? { group, version } : { group: place.group, version: place.version }), kind };
}

function objectsIn(value: unknown, field: string): JsonObject[] {
  const list = isJsonObject(value) ? value[field] : undefined;
  return Array.isArray(list) ? (list as readonly unknown[]).filter(isJsonObject) : [];
}

function textsIn(value: JsonObject, field: string): readonly string[] {
  const list = value[field];
  return Array.isArray(list) ? (list as readonly unknown[]).filter(isShort).slice(0, TEXTS_MAX) : [];
}

function isName(value: unknown): value is string {
  return isShort(value) && value !== "";
}

function isShort(value: unknown): value is string {
  return typeof value === "string" && value.length <= TEXT_CHARS_MAX;
}
