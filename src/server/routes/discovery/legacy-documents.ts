/** Step-by-step discovery: the groups, the versions of a group, the resources of a version. */
import type { JsonObject } from "../../../api/json/json-object.ts";
import { apiVersionOf } from "../../../api/schema/resource-facts.ts";
import type {
  GroupVersionFacts,
  ResourceFacts,
  SubresourceFacts,
} from "../../../api/schema/resource-facts.ts";
import type { Group } from "./group-order.ts";

export function apiVersions(versions: readonly string[], serverAddress: string): JsonObject {
  return {
    kind: "APIVersions",
    versions,
    serverAddressByClientCIDRs: [{ clientCIDR: "0.0.0.0/0", serverAddress }],
  };
}

export function apiGroupList(groups: readonly Group[]): JsonObject {
  return { kind: "APIGroupList", apiVersion: "v1", groups: groups.map(groupMembers) };
}

export function apiGroup(group: Group): JsonObject {
  return { kind: "APIGroup", apiVersion: "v1", ...groupMembers(group) };
}

/** As upstream, the list of the core group has no apiVersion. */
export function apiResourceList({ group, version, resources }: GroupVersionFacts): JsonObject {
  return {
    kind: "APIResourceList",
    ...(group !== "" && { apiVersion: "v1" }),
    groupVersion: apiVersionOf({ group, version }),
    resources: resources.flatMap((facts) => [
      resourceMembers(facts),
      ...facts.subresources.map((subresource) => subresourceMembers(subresource, facts)),
    ]),
  };
}

function groupMembers({ name, versions }: Group): JsonObject {
  const shown = versions.map((facts) => ({ groupVersion: apiVersionOf(facts), version: facts.version }));
  return { name, versions: shown, preferredVersion: shown[0] };
}

function resourceMembers(facts: ResourceFacts): JsonObject {
  return {
    name: facts.name,
    singularName: facts.singular,
    namespaced: facts.namespaced,
    kind: facts.kind,
    verbs: facts.verbs,
    ...(facts.shortNames.length > 0 && { shortNames: facts.shortNames }),
    ...(facts.categories.length > 0 && { categories: facts.categories }),
    ...(facts.storage !== undefined && { storageVersionHash: facts.storage.hash }),
  };
}

function subresourceMembers(subresource: SubresourceFacts, { name, namespaced }: ResourceFacts): JsonObject {
  const { group, version, kind, verbs, hasOwnGroup } = subresource;
  return {
    name: `${name}/${subresource.name}`,
    singularName: "",
    namespaced,
    ...(hasOwnGroup && { group, version }),
    kind,
    verbs,
  };
}
