/**
 * What a request is about, read off method and path. The grammar of paths is fixed:
 *
 *     /api/v1/…  and  /apis/GROUP/VERSION/…  then
 *     RESOURCE[/NAME[/SUBRESOURCE…]]   or   namespaces/NAMESPACE/RESOURCE[/NAME[/SUBRESOURCE…]]
 *
 * The old form with `watch/` before the resource is understood too.
 */

export type RequestVerb =
  | "get"
  | "list"
  | "watch"
  | "create"
  | "update"
  | "patch"
  | "delete"
  | "deletecollection";

export interface ResourceRequest {
  readonly type: "resource";
  readonly verb: RequestVerb;
  readonly group: string;
  readonly version: string;
  readonly resource: string;
  /** Empty for cluster-scoped requests and for all namespaces. */
  readonly namespace: string;
  /** Empty for collections. */
  readonly name: string;
  /** Empty for the resource itself. */
  readonly subresource: string;
  /** What follows the subresource, for the proxies. */
  readonly rest: string;
}

export interface OtherRequest {
  readonly type: "other";
  readonly path: string;
  /** The resource that is asked for with a method that means nothing there. */
  readonly resource?: { readonly group: string; readonly version: string; readonly resource: string };
  /** The path cannot be read: an escape in it is broken. */
  readonly isMalformed?: boolean;
}

export type RequestInfo = ResourceRequest | OtherRequest;

const COLLECTION_VERBS: Readonly<Record<string, RequestVerb>> = {
  POST: "create",
  GET: "list",
  HEAD: "list",
  DELETE: "deletecollection",
};
const OBJECT_VERBS: Readonly<Record<string, RequestVerb>> = {
  POST: "create",
  GET: "get",
  HEAD: "get",
  PUT: "update",
  PATCH: "patch",
  DELETE: "delete",
};

/** Subresources of a namespace; any other third part is a resource in it. */
const NAMESPACE_SUBRESOURCES = new Set(["status", "finalize"]);

export function parseRequestInfo(method: string, path: string, query: URLSearchParams): RequestInfo {
  const parts = splitPath(path);
  const start = parts === undefined ? undefined : groupVersionOf(parts);
  if (parts === undefined) return { type: "other", path, isMalformed: true };
  if (start === undefined) return { type: "other", path };
  const found = resourceParts(parts, start.length);
  if (found === undefined) return { type: "other", path };
  // Of one object it is the path that says so: a query with `watch` gets it, as upstream does.
  const isWatch = found.isWatch || (found.name === "" && query.size > 0 && isTrue(query.get("watch")));
  const verb = verbOf(method, found, isWatch);
  const { resource, namespace, name, subresource, rest } = found;
  if (verb === undefined)
    return { type: "other", path, resource: { group: start.group, version: start.version, resource } };
  return {
    type: "resource",
    verb,
    group: start.group,
    version: start.version,
    resource,
    namespace,
    name,
    subresource,
    rest,
  };
}

function verbOf(
  method: string,
  { name, subresource }: ResourceParts,
  isWatch: boolean,
): RequestVerb | undefined {
  const verbs = name === "" ? COLLECTION_VERBS : OBJECT_VERBS;
  const verb = Object.hasOwn(verbs, method) ? verbs[method] : undefined;
  // Whoever is behind a proxy may be asked what can be done there by whoever may look.
  if (method === "OPTIONS" && subresource === "proxy") return "get";
  return isWatch && (verb === "list" || verb === "get") ? "watch" : verb;
}

/**
 * Undefined when an escape is broken; an escaped slash stays within its part. Slashes around it all mean nothing, between two
 * of them is a part without a name.
 */
function splitPath(path: string): string[] | undefined {
  try {
    const parts = withoutOuterSlashes(path).split("/");
    return path.includes("%") ? parts.map(decodeURIComponent) : parts;
  } catch {
    return undefined;
  }
}

function withoutOuterSlashes(path: string): string {
  let start = 0;
  let end = path.length;
  while (path[start] === "/") start += 1;
  while (end > start && path[end - 1] === "/") end -= 1;
  return path.slice(start, end);
}

interface GroupVersionPart {
  readonly group: string;
  readonly version: string;
  /** How many parts it takes. */
  readonly length: number;
}

function groupVersionOf(parts: readonly string[]): GroupVersionPart | undefined {
  const root = parts[0];
  const first = parts[1];
  const second = parts[2];
  if (root === "api" && first !== undefined) return { group: "", version: first, length: 2 };
  if (root === "apis" && first !== undefined && first !== "" && second !== undefined)
    return { group: first, version: second, length: 3 };
  return undefined;
}

interface ResourceParts {
  readonly isWatch: boolean;
  readonly namespace: string;
  readonly resource: string;
  readonly name: string;
  readonly subresource: string;
  readonly rest: string;
}

/** Of the parts from `start` on. */
function resourceParts(parts: readonly string[], start: number): ResourceParts | undefined {
  const isWatch = parts[start] === "watch";
  const first = isWatch ? start + 1 : start;
  const isInNamespace =
    parts[first] === "namespaces" &&
    parts.length > first + 2 &&
    !NAMESPACE_SUBRESOURCES.has(parts[first + 2] ?? "");
  const at = isInNamespace ? first + 2 : first;
  const resource = parts[at];
  if (resource === undefined) return undefined;
  return {
    isWatch,
    namespace: isInNamespace ? (parts[first + 1] ?? "") : "",
    resource,
    name: parts[at + 1] ?? "",
    subresource: parts[at + 2] ?? "",
    rest: parts.length > at + 3 ? parts.slice(at + 3).join("/") : "",
  };
}

/** How much of a resource a request is about: one object, those of a namespace, or all. For counting. */
export function scopeOf({ verb, name, namespace }: ResourceRequest): "resource" | "namespace" | "cluster" {
  if (name !== "" || verb === "create") return "resource";
  return namespace === "" ? "cluster" : "namespace";
}

/** Given in any way but as a no: Go's clients write `true`, people `1` or nothing. */
export function isTrue(text: string | null): boolean {
  return text !== null && !/^(?:false|0)$/i.test(text);
}
