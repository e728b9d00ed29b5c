/** Aggregated discovery: one document with every group, its versions and their resources. */
import type { JsonObject } from "../../../api/json/json-object.ts";
import type { ResourceFacts, SubresourceFacts } from "../../../api/schema/resource-facts.ts";
import type { Group, ServedVersion } from "./group-order.ts";

/** The core group has an empty name. */
export function groupDiscoveryList(groups: readonly Group[]): JsonObject {
  return {
    kind: "APIGroupDiscoveryList",
    apiVersion: "apidiscovery.k8s.io/v2",
    metadata: {},
    items: groups.map(({ name, versions }) => ({
      metadata: name === "" ? {} : { name },
      versions: versions.map(versionMembers),
    })),
  };
}

function versionMembers(served: ServedVersion): JsonObject {
  const { version } = served;
  if ("remote" in served) {
    const { remote, freshness } = served;
    return { version, ...(remote.length > 0 && { resources: remote }), freshness };
  }
  const { resources } = served;
  return { version, resources: resources.map(resourceMembers), freshness: "Current" };
}

function resourceMembers(facts: ResourceFacts): JsonObject {
  const { name, group, version, kind, namespaced, singular, verbs } = facts;
  return {
    resource: name,
    responseKind: { group, version, kind },
    scope: namespaced ? "Namespaced" : "Cluster",
    singularResource: singular,
    verbs,
    ...(facts.shortNames.length > 0 && { shortNames: facts.shortNames }),
    ...(facts.categories.length > 0 && { categories: facts.categories }),
    ...(facts.subresources.length > 0 && { subresources: facts.subresources.map(subresourceMembers) }),
  };
}

function subresourceMembers({ name, group, version, kind, verbs }: SubresourceFacts): JsonObject {
  return { subresource: name, responseKind: { group, version, kind }, verbs };
}
