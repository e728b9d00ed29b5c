/**
 * Parses method and target of a request, once. The authorized request is therefore the one that is executed, proxied,
 * audited and counted.
 *
 *     /api/v1/…  and  /apis/GROUP/VERSION/…  then
 *     RESOURCE[/NAME[/SUBRESOURCE…]]   or   namespaces/NAMESPACE/RESOURCE[/NAME[/SUBRESOURCE…]]
 *
 * `watch/` and `proxy/` before the resource are deprecated forms that upstream still authorizes as verbs.
 */
import { pathSegmentName } from "../../api/values/names.ts";
import type {
  AskedVerb,
  OtherRequest,
  ParsedRequest,
  RequestInfo,
  RequestVerb,
  ResourceRequest,
  SentRequest,
} from "./request-info.ts";
import { exactField } from "./selector-terms.ts";

/** Shared, because no code changes it. */
const NO_QUERY = new URLSearchParams();

export function parseRequest(method: string, target: string): ParsedRequest {
  const at = target.indexOf("?");
  const rawPath = at < 0 ? target : target.slice(0, at);
  const rawQuery = at < 0 ? "" : target.slice(at);
  const query = rawQuery.length < 2 ? NO_QUERY : new URLSearchParams(rawQuery.slice(1));
  return { info: infoOf({ method, rawPath, rawQuery }, query), query };
}

const METHOD = /^[A-Z][A-Z-]*$/;
const VISIBLE_ASCII = /^[!-~]*$/;
/** Clients such as curl send other characters to pods unescaped. */
const VISIBLE = /^[!-~\u0080-\u00ff]*$/;
const BROKEN_ESCAPE = /%(?![0-9A-Fa-f]{2})/;

function infoOf(sent: SentRequest, query: URLSearchParams): RequestInfo {
  const { method, rawPath } = sent;
  if (!METHOD.test(method)) return malformed(sent, `invalid method ${JSON.stringify(method)}`);
  const parts = partsOf(rawPath);
  const place = placeOf(parts);
  // Most paths end at the resource or name.
  const rest = place === undefined || place.subresource === "" ? "" : behind(rawPath, place.length);
  if (!isUnderstood({ rawPath, parts, place, rest }))
    return malformed(sent, `invalid path ${JSON.stringify(rawPath)}`);
  if (place === undefined) {
    const path = rawPath.includes("%") ? decodeURIComponent(rawPath) : rawPath;
    return { type: "other", ...sent, verb: method.toLowerCase(), path };
  }
  const path = `/${parts.slice(0, place.length).join("/")}`;
  return resourceRequest(sent, { place, path, rest: isProxied(place) ? rest : withoutSlash(rest) }, query);
}

interface Read {
  readonly rawPath: string;
  readonly parts: Parts;
  readonly place: Place | undefined;
  readonly rest: string;
}

/** The path after `proxy` belongs to the pod or Service: only its escapes are checked. */
function isUnderstood({ rawPath, parts, place, rest }: Read): boolean {
  if (place === undefined) return isWellFormed(rawPath, parts);
  if (place.resource === "") return false;
  if (!isProxied(place)) return isWellFormed(rawPath, parts);
  const own = rawPath.slice(0, rawPath.length - rest.length);
  return isWellFormed(own, parts.slice(0, place.length)) && isTail(rest);
}

function isProxied({ subresource }: Place): boolean {
  return subresource === "proxy";
}

function malformed(sent: SentRequest, problem: string): OtherRequest {
  return { type: "other", ...sent, verb: "", path: sent.rawPath, problem };
}

/** A part with a broken escape is undefined. One trailing slash has no meaning. */
type Parts = readonly (string | undefined)[];

function partsOf(rawPath: string): Parts {
  const parts = rawPath.split("/").slice(1);
  if (parts.at(-1) === "") parts.pop();
  return rawPath.includes("%") ? parts.map(decoded) : parts;
}

function decoded(part: string): string | undefined {
  try {
    return decodeURIComponent(part);
  } catch {
    return undefined;
  }
}

/** An escaped slash is refused, because other servers decode it into a path separator. */
function isWellFormed(rawPath: string, parts: Parts): boolean {
  if (!rawPath.startsWith("/") || !VISIBLE_ASCII.test(rawPath)) return false;
  return parts.every((part) => part !== undefined && part !== "" && !part.includes("/"));
}

function isTail(rest: string): boolean {
  return VISIBLE.test(rest) && !BROKEN_ESCAPE.test(rest);
}

interface Place {
  readonly group: string;
  readonly version: string;
  readonly prefix: "watch" | "proxy" | "";
  readonly namespace: string;
  /** Empty if the path ends before the resource. */
  readonly resource: string;
  readonly name: string;
  readonly subresource: string;
  /** Number of parts up to and including the subresource. */
  readonly length: number;
}

/** Subresources of a namespace; any other third part is a resource in it. */
const NAMESPACE_SUBRESOURCES = new Set(["status", "finalize"]);

/** Undefined for a path that names no resource. */
function placeOf(parts: Parts): Place | undefined {
  const start = startOf(parts);
  if (start === undefined) return undefined;
  const textAt = (index: number): string => parts[index] ?? "";
  const prefix = oldFormOf(textAt(start));
  const first = prefix === "" ? start : start + 1;
  const isInNamespace = isWithinNamespace(parts, first);
  const at = isInNamespace ? first + 2 : first;
  return {
    group: start === 2 ? "" : textAt(1),
    version: textAt(start - 1),
    prefix,
    namespace: isInNamespace ? textAt(first + 1) : "",
    resource: textAt(at),
    name: textAt(at + 1),
    subresource: prefix === "proxy" ? "" : textAt(at + 2),
    length: at + 3,
  };
}

/** Index of the part after the version. */
function startOf(parts: Parts): number | undefined {
  const start = parts[0] === "api" ? 2 : 3;
  const isApi = parts[0] === "api" || parts[0] === "apis";
  return isApi && parts.length > start ? start : undefined;
}

function oldFormOf(part: string): Place["prefix"] {
  return part === "watch" || part === "proxy" ? part : "";
}

function isWithinNamespace(parts: Parts, at: number): boolean {
  const third = parts[at + 2];
  return parts[at] === "namespaces" && parts.length > at + 2 && !NAMESPACE_SUBRESOURCES.has(third ?? "");
}

/** The path after `count` parts. */
function behind(rawPath: string, count: number): string {
  let at = 0;
  for (let passed = 0; passed < count; passed++) {
    at = rawPath.indexOf("/", at + 1);
    if (at < 0) return "";
  }
  return rawPath.slice(at);
}

function withoutSlash(rest: string): string {
  return rest.endsWith("/") ? rest.slice(0, -1) : rest;
}

interface Found {
  readonly place: Place;
  readonly path: string;
  readonly rest: string;
}

/** Copies member by member: this runs for every request, and spreading an object is many times slower. */
function resourceRequest(
  sent: SentRequest,
  { place, path, rest }: Found,
  query: URLSearchParams,
): ResourceRequest {
  const { method, rawPath, rawQuery } = sent;
  const { group, version, prefix, resource, namespace, name, subresource } = place;
  const verb = verbOf(method, place, query);
  const isSelective = prefix === "" && query.size > 0 && SELECTIVE.has(verb) && name === "";
  const fieldSelector = isSelective ? (query.get("fieldSelector") ?? "") : "";
  return {
    type: "resource",
    method,
    rawPath,
    rawQuery,
    verb,
    group,
    version,
    resource,
    namespace,
    name,
    subresource,
    path,
    rest,
    accessNamespace: resource === "namespaces" && namespace === "" ? name : namespace,
    accessName: name === "" ? selectedName(verb, fieldSelector) : name,
    fieldSelector,
    labelSelector: isSelective ? (query.get("labelSelector") ?? "") : "",
  };
}

const VERBS: ReadonlyMap<string, RequestVerb> = new Map([
  ["POST", "create"],
  ["GET", "get"],
  ["HEAD", "get"],
  ["PUT", "update"],
  ["PATCH", "patch"],
  ["DELETE", "delete"],
]);

const SELECTIVE: ReadonlySet<AskedVerb> = new Set<AskedVerb>(["list", "watch", "deletecollection"]);

/** `?watch` with a name is a get, as upstream: only the deprecated path form watches one object. */
function verbOf(method: string, { prefix, name }: Place, query: URLSearchParams): AskedVerb {
  if (prefix !== "") return prefix;
  const verb = VERBS.get(method) ?? "";
  if (name !== "") return verb;
  if (verb === "get") return query.size > 0 && isTrue(query.get("watch")) ? "watch" : "list";
  return verb === "delete" ? "deletecollection" : verb;
}

/** A list by exact name counts as one object for rules with resourceNames. */
function selectedName(verb: AskedVerb, fieldSelector: string): string {
  if (fieldSelector === "" || verb === "deletecollection") return "";
  const name = exactField(fieldSelector, "metadata.name") ?? "";
  return name !== "" && pathSegmentName(name).length === 0 ? name : "";
}

/** Method and path fit together: a watch path is read-only, and an update needs a name. */
export function isMethodFit({ verb, method, name, subresource }: ResourceRequest): boolean {
  if (verb === "" || verb === "proxy") return false;
  if (verb === "watch") return method === "GET" || method === "HEAD";
  if (verb === "create") return name === "" || subresource !== "";
  return name !== "" || (verb !== "update" && verb !== "patch");
}

/** Scope label of metrics: one object, a namespace, or the cluster. */
export function scopeOf({ verb, name, namespace }: ResourceRequest): "resource" | "namespace" | "cluster" {
  if (name !== "" || verb === "create") return "resource";
  return namespace === "" ? "cluster" : "namespace";
}

/** True for any value except `false` and `0`: Go clients send `true`, people `1` or an empty value. */
export function isTrue(text: string | null): boolean {
  return text !== null && !/^(?:false|0)$/i.test(text);
}

const PROBE = /^\/(?:healthz|livez|readyz)(?:[/?]|$)/;
/** Path of one lease, or of the leases of a namespace. */
const LEASE = /^\/apis\/coordination\.k8s\.io\/v1\/namespaces\/[^/?]+\/leases(?<name>\/[^/?]+)?(?:\?|$)/;

export interface QueuedTarget {
  readonly method: string;
  /** Path and query as sent. */
  readonly target: string;
  /** Undefined while the client is not verified. */
  readonly user: string | undefined;
}

/**
 * Health probes and lease writes go before all other requests: a component that seems dead because it waited is
 * restarted, which increases the load. Lists and watches of leases cost as much as other lists. Only a verified user
 * writes leases.
 */
export function isUrgent({ method, target, user }: QueuedTarget): boolean {
  if (PROBE.test(target)) return true;
  if (user === undefined) return false;
  const lease = LEASE.exec(target);
  if (lease === null) return false;
  return lease.groups?.["name"] === undefined ? method === "POST" : method !== "DELETE";
}
