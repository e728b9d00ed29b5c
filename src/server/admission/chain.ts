/** Chooses the plugins for one kind of request and sorts them by stage. */
import type { AdmissionPlugin, Interest, KindOfRequest } from "./plugin.ts";

export interface Chain {
  readonly ready: readonly AdmissionPlugin[];
  readonly mutate: readonly AdmissionPlugin[];
  readonly mutateLater: readonly AdmissionPlugin[];
  readonly validate: readonly AdmissionPlugin[];
  readonly validateLater: readonly AdmissionPlugin[];
}

/** Undefined if no plugin handles the request. */
export function chainOf(all: readonly AdmissionPlugin[], request: KindOfRequest): Chain | undefined {
  const plugins = all.filter(({ interests }) => interests.some((interest) => concerns(interest, request)));
  if (plugins.length === 0) return undefined;
  return {
    ready: plugins.filter((plugin) => plugin.ready !== undefined),
    mutate: plugins.filter((plugin) => plugin.mutate !== undefined),
    mutateLater: plugins.filter((plugin) => plugin.mutateLater !== undefined),
    validate: plugins.filter((plugin) => plugin.validate !== undefined),
    validateLater: plugins.filter((plugin) => plugin.validateLater !== undefined),
  };
}

function concerns(
  { resources, operations }: Interest,
  { resource, operation, subresource }: KindOfRequest,
): boolean {
  if (!operations.includes(operation)) return false;
  const { name, group, namespaced } = resource.facts;
  if (resources === "all") return true;
  if (resources === "all in namespaces") return namespaced;
  const full = group === "" ? name : `${name}.${group}`;
  return resources.includes(subresource === "" ? full : `${full}/${subresource}`);
}
