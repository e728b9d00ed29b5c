/** Resources that a server serves, found by the words that users type: `pods`, `po`, `deployments.apps`, `all`. */
import type { ResourceType } from "../api/api-object.ts";
import { isJsonObject, type JsonObject } from "../api/json/json-object.ts";
import type { Client } from "./client.ts";

export interface ServedResource extends ResourceType {
  readonly singular: string;
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  readonly verbs: readonly string[];
  /** It has the subresource `status`. */
  readonly hasStatus: boolean;
}

/** Resources in the server's order; versions of a group in order of preference. */
export async function readServedResources(client: Client): Promise<readonly ServedResource[]> {
  const [core, groups] = await Promise.all(
    ["/api", "/apis"].map((path) => client.request({ path, form: "discovery" })),
  );
  return [core, groups].flatMap(resourcesIn);
}

/** The resource that a word names; undefined when the server serves none. */
export function findResource(word: string, served: readonly ServedResource[]): ServedResource | undefined {
  return served.find((resource) => isNamed(resource, word.toLowerCase()));
}

/** Resources of other groups with the same short name, which the word does not name. */
export function lowerPriorityResources(
  word: string,
  served: readonly ServedResource[],
): readonly ServedResource[] {
  const found = findResource(word, served);
  if (found === undefined || !found.shortNames.includes(word)) return [];
  const others = served.filter(({ shortNames }) => shortNames.includes(word));
  return firstVersions(others).filter(
    (other) => other.plural !== found.plural || groupOf(other) !== groupOf(found),
  );
}

/** Resources that a word names: one, or those of a category. Throws when the server serves none. */
export function resourcesNamed(word: string, served: readonly ServedResource[]): readonly ServedResource[] {
  const found = findResource(word, served);
  if (found !== undefined) return [found];
  const category = served.filter(({ categories }) => categories.includes(word));
  if (category.length === 0) throw new Error(`the server doesn't have a resource type "${word}"`);
  return firstVersions(category);
}

export function groupOf({ apiVersion }: Pick<ResourceType, "apiVersion">): string {
  return apiVersion.includes("/") ? (apiVersion.split("/")[0] ?? "") : "";
}

/** `pod`, `deployment.apps`: the name that kubectl prints before an object's name. */
export function kindText(resource: Pick<ResourceType, "apiVersion" | "kind">): string {
  const group = groupOf(resource);
  return `${resource.kind.toLowerCase()}${group === "" ? "" : `.${group}`}`;
}

function isNamed(resource: ServedResource, word: string): boolean {
  const { plural, singular, shortNames, kind, apiVersion } = resource;
  if ([plural, singular, kind.toLowerCase(), ...shortNames].includes(word)) return true;
  const [version = "", group] = apiVersion.split("/").toReversed();
  return (
    group !== undefined &&
    [plural, singular].some((name) => [`${name}.${group}`, `${name}.${version}.${group}`].includes(word))
  );
}

/** A resource that is served in several versions is listed once. */
function firstVersions(resources: readonly ServedResource[]): readonly ServedResource[] {
  const seen = new Set<string>();
  return resources.filter((resource) => {
    const name = `${resource.plural}.${groupOf(resource)}`;
    if (seen.has(name)) return false;
    seen.add(name);
    return true;
  });
}

function resourcesIn(document: unknown): readonly ServedResource[] {
  return listIn(document, "items").flatMap((group) =>
    listIn(group, "versions").flatMap((version) => {
      const name = metadataName(group);
      const apiVersion = [...(name === "" ? [] : [name]), textIn(version, "version")].join("/");
      return listIn(version, "resources").map((resource) => servedResource(resource, apiVersion));
    }),
  );
}

function servedResource(resource: JsonObject, apiVersion: string): ServedResource {
  const responseKind = resource["responseKind"];
  return {
    apiVersion,
    kind: isJsonObject(responseKind) ? textIn(responseKind, "kind") : "",
    plural: textIn(resource, "resource"),
    singular: textIn(resource, "singularResource"),
    namespaced: resource["scope"] === "Namespaced",
    shortNames: textsIn(resource, "shortNames"),
    categories: textsIn(resource, "categories"),
    verbs: textsIn(resource, "verbs"),
    hasStatus: listIn(resource, "subresources").some((each) => textIn(each, "subresource") === "status"),
  };
}

function metadataName(group: JsonObject): string {
  const { metadata } = group;
  return isJsonObject(metadata) ? textIn(metadata, "name") : "";
}

function listIn(value: unknown, field: string): readonly JsonObject[] {
  const list = isJsonObject(value) ? value[field] : undefined;
  return Array.isArray(list) ? list.filter((item) => isJsonObject(item)) : [];
}

function textIn(value: JsonObject, field: string): string {
  const text = value[field];
  return typeof text === "string" ? text : "";
}

function textsIn(value: JsonObject, field: string): readonly string[] {
  const list = value[field];
  return Array.isArray(list) ? list.filter((item) => typeof item === "string") : [];
}
