/** Finds the other resources that serve the same objects: other versions, and other groups over the same storage. */
import type { ResourceFacts } from "../../../api/schema/resource-facts.ts";
import type { Registry, AdmittedResource } from "../../objects/registry.ts";
import { isStored } from "../../objects/registry.ts";

export function equivalentsOf(
  { facts, storage }: AdmittedResource,
  subresource: string,
  registry: Registry,
): readonly AdmittedResource[] {
  const isOther = (other: ResourceFacts): boolean =>
    storage !== undefined &&
    other.storage?.prefix === storage.prefix &&
    !(other.group === facts.group && other.version === facts.version) &&
    (subresource === "" || other.subresources.some(({ name }) => name === subresource));
  const found: AdmittedResource[] = [];
  for (const { resources } of registry.groupVersions) {
    const other = resources.find(isOther);
    if (other === undefined) continue;
    const { group, version, name } = other;
    const resource = registry.find({ group, version, resource: name });
    if (resource !== undefined && isStored(resource)) found.push(resource);
  }
  return found;
}
