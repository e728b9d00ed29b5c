import type { TransportRequest } from "./transport.ts";

/** What to accept so that only metadata is sent. Servers refuse to be asked for a list where there is one object, and the other way round. */
export function metadataMediaType(request: TransportRequest): string {
  return `application/json;as=PartialObjectMetadata${isList(request) ? "List" : ""};g=meta.k8s.io;v=v1`;
}

/** Events of a watch are single objects. */
function isList({ method, path, query }: TransportRequest): boolean {
  return method === "GET" && query?.["watch"] === undefined && isCollection(path);
}

/** Below the group version, and a namespace where there is one, lies the plural, and below that the object. */
function isCollection(path: string): boolean {
  const below = path.replace(/^\/(?:api\/[^/]+|apis\/[^/]+\/[^/]+)\//, "");
  return !below.replace(/^namespaces\/[^/]+\/(?=[^/]+)/, "").includes("/");
}
