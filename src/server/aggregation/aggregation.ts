/** What other servers serve under this one's address: requests for it are handed on once it is known who asks and that they may. */
import { badRequest, methodNotAllowed, serviceUnavailable } from "../../api/errors/api-error.ts";
import type { OpenEgress } from "../egress/create-egress.ts";
import { EgressError } from "../egress/egress.ts";
import type { ClientPair, DialAddress } from "../egress/egress.ts";
import type { Exchange, Reply, Stage } from "../request/exchange.ts";
import { isMethodFit } from "../request/request-info.ts";
import type { OtherRequest, RequestInfo, ResourceRequest } from "../request/request-info.ts";
import { identityHeaders } from "./relay/forwarded-headers.ts";
import { refusal } from "./relay/relay.ts";
import type { Relay } from "./relay/relay.ts";
import type { RemoteApi, RemoteApis } from "./remote-apis.ts";

export interface AggregationParts {
  readonly apis: RemoteApis;
  readonly egress: OpenEgress;
  readonly relay: Relay;
  /** By what extension servers know that it is this server who says who asks. */
  readonly frontProxy: () => ClientPair | undefined;
  /** Called when a server that should be there did not answer. */
  readonly onUnreached: (api: RemoteApi) => void;
}

export function aggregate(parts: AggregationParts): Stage {
  const { apis } = parts;
  return (exchange, next) => {
    const { info } = exchange;
    const api = info.type === "resource" ? findApi(info, apis) : findDocumented(info, apis);
    return api === undefined ? next(exchange) : handOn(exchange, api, parts);
  };
}

function findApi({ group, version }: ResourceRequest, apis: RemoteApis): RemoteApi | undefined {
  return group === "" ? undefined : apis.find(group, version);
}

/** Paths of the discovery and the OpenAPI document of a version. Any other path is relayed as a resource or not at all. */
const DOCUMENT = /^(?:\/openapi\/v3)?\/apis\/([^/]+)\/([^/]+)\/?$/;

function findDocumented({ method, path }: OtherRequest, apis: RemoteApis): RemoteApi | undefined {
  if (method !== "GET" && method !== "HEAD") return undefined;
  const [, group, version] = DOCUMENT.exec(path) ?? [];
  return group === undefined || version === undefined ? undefined : apis.find(group, version);
}

/** A part that many servers take for a step within the path, with whatever they take for a slash around it. */
const DOT_SEGMENT = /(?:[/\\]|%2f|%5c)(?:\.|%2e){1,2}(?:[/\\]|%2f|%5c|$)/i;

/** Characters that other servers take for slashes or for the end of a text. */
const UNSAFE = /[\\\p{Cc}]/u;

/**
 * Path and query as they were parsed and authorized, written anew: the other server reads nothing into them that this
 * server did not see.
 */
function relayedTarget(info: RequestInfo, query: URLSearchParams): string {
  const path = info.path.replace(/\/$/, "").split("/").map(encodeURIComponent).join("/");
  // Schemas are asked for by a hash that their server may have replaced; it would answer with a redirect.
  if (info.type === "other" && path.startsWith("/openapi/")) return path;
  const rest = info.type === "resource" ? info.rest : "";
  return query.size === 0 ? path + rest : `${path}${rest}?${query.toString()}`;
}

/** `watch/` and `proxy/` are verbs here, while another server may have resources of these names. */
function isOldForm(info: RequestInfo): boolean {
  if (info.type === "other") return false;
  return info.verb === "proxy" || (info.verb === "watch" && !isMethodFit(info));
}

/** What clients make of the plain answer. */
const UNAVAILABLE = "the server is currently unable to handle the request";

function handOn(exchange: Exchange, api: RemoteApi, parts: AggregationParts): Reply {
  const { request, info, query, user } = exchange;
  if (user === undefined) throw new Error("who asks is known before a request is handed on");
  if (DOT_SEGMENT.test(info.rawPath) || UNSAFE.test(info.path))
    throw badRequest(`invalid path ${JSON.stringify(info.rawPath)}`);
  if (isOldForm(info)) throw methodNotAllowed();
  const address = api.isAvailable ? findAddress(api, parts.egress) : undefined;
  if (address === undefined) {
    if (request.direct !== undefined) throw serviceUnavailable(UNAVAILABLE);
    return refusal(request, 503, "service unavailable");
  }
  return parts.relay.send(request, {
    address,
    origin: "configured",
    trust: api.trust,
    pair: parts.frontProxy(),
    method: info.method,
    target: relayedTarget(info, query),
    headers: identityHeaders(user),
    isWatch: info.type === "resource" && info.verb === "watch",
    onUnreached: () => parts.onUnreached(api),
  });
}

function findAddress({ target }: RemoteApi, egress: OpenEgress): DialAddress | undefined {
  try {
    return egress.resolve(target);
  } catch (error) {
    if (error instanceof EgressError) return undefined;
    throw error;
  }
}
