import type { ApiObject, ResourceType } from "../api/api-object.ts";

/**
 * Identifies a kind whose TypeScript type is written by hand: `const Backup = resourceType<Backup>({ apiVersion:
 * "example.com/v1", … })`.
 */
export function resourceType<T extends ApiObject>({
  apiVersion,
  kind,
  plural,
  namespaced,
}: Omit<ResourceType<T>, "object">): ResourceType<T> {
  return { apiVersion, kind, plural, namespaced };
}
