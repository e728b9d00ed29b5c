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
  const found = resourceParts(parts.slice(start.length));
  if (found === undefined) return { type: "other", path };
  const isWatch = found.isWatch || isTrue(query.get("watch"));
  const verb = verbOf(method, found.name, isWatch);
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

function verbOf(method: string, name: string, isWatch: boolean): RequestVerb | undefined {
  const verbs = name === "" ? COLLECTION_VERBS : OBJECT_VERBS;
  const verb = Object.hasOwn(verbs, method) ? verbs[method] : undefined;
  return isWatch && (verb === "list" || verb === "get") ? "watch" : verb;
}

/** Undefined when an escape is broken; an escaped slash stays within its part. */
function splitPath(path: string): string[] | undefined {
  try {
    const parts = path.split("/").filter((part) => part !== "");
    return path.includes("%") ? parts.map(decodeURIComponent) : parts;
  } catch {
    return undefined;
  }
}

interface GroupVersionPart {
  readonly group: string;
  readonly version: string;
  /** How many parts it takes. */
  readonly length: number;
}

function groupVersionOf([root, first, second]: readonly string[]): GroupVersionPart | undefined {
  if (root === "api" && first !== undefined) return { group: "", version: first, length: 2 };
  if (root === "apis" && first !== undefined && second !== undefined)
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

function resourceParts(parts: readonly string[]): ResourceParts | undefined {
  const isWatch = parts[0] === "watch";
  const own = isWatch ? parts.slice(1) : parts;
  const isInNamespace =
    own[0] === "namespaces" && own.length > 2 && !NAMESPACE_SUBRESOURCES.has(own[2] ?? "");
  const namespace = isInNamespace ? (own[1] ?? "") : "";
  const [resource, name = "", subresource = "", ...rest] = isInNamespace ? own.slice(2) : own;
  if (resource === undefined) return undefined;
  return { isWatch, namespace, resource, name, subresource, rest: rest.join("/") };
}

/** Given in any way but as a no: Go's clients write `true`, people `1` or nothing. */
export function isTrue(text: string | null): boolean {
  return text !== null && !/^(?:false|0)$/i.test(text);
}
