import type { TransportRequest } from "./transport.ts";

/** The `Accept` header for metadata only. Servers reject the list form for a single object, and the reverse. */
export function metadataMediaType(request: TransportRequest): string {
  return `application/json;as=PartialObjectMetadata${isList(request) ? "List" : ""};g=meta.k8s.io;v=v1`;
}

/** A watch returns single objects. */
function isList({ method, path, query }: TransportRequest): boolean {
  return method === "GET" && query?.["watch"] === undefined && isCollection(path);
}

/** True when the path ends with the plural: below the group version, and below the namespace if there is one. */
function isCollection(path: string): boolean {
  const below = path.replace(/^\/(?:api\/[^/]+|apis\/[^/]+\/[^/]+)\//, "");
  return !below.replace(/^namespaces\/[^/]+\/(?=[^/]+)/, "").includes("/");
}
