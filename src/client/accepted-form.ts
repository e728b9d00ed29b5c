import type { TransportRequest } from "./transport.ts";

/** The `Accept` header of a request; undefined for whole objects. */
export function acceptedMediaType(request: TransportRequest): string | undefined {
  const { form = "object" } = request;
  switch (form) {
    case "metadata":
      // Servers reject the list form for a single object, and the reverse.
      return `application/json;as=PartialObjectMetadata${isList(request) ? "List" : ""};g=meta.k8s.io;v=v1`;
    case "table":
      return "application/json;as=Table;g=meta.k8s.io;v=v1,application/json";
    case "discovery":
      return "application/json;as=APIGroupDiscoveryList;g=apidiscovery.k8s.io;v=v2";
    case "object":
      return undefined;
  }
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
