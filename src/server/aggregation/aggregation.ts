/** Relays requests for APIs of extension servers, after authentication and authorization. */
import { badRequest, methodNotAllowed, serviceUnavailable } from "../../api/errors/api-error.ts";
import type { OpenEgress } from "../egress/create-egress.ts";
import { EgressError } from "../egress/egress.ts";
import type { ClientPair, DialAddress } from "../egress/egress.ts";
import { identityHeaders } from "../relay/forwarded-headers.ts";
import { refusal } from "../relay/relay.ts";
import type { Relay } from "../relay/relay.ts";
import type { Exchange, Reply, Stage } from "../request/exchange.ts";
import { isMethodFit } from "../request/parse-request.ts";
import type { OtherRequest, RequestInfo, ResourceRequest } from "../request/request-info.ts";
import type { RemoteApi, RemoteApis } from "./remote-apis.ts";

export interface AggregationParts {
  readonly apis: RemoteApis;
  readonly egress: OpenEgress;
  readonly relay: Relay;
  /** Client certificate with which extension servers recognize this server and trust its identity headers. */
  readonly frontProxy: () => ClientPair | undefined;
  /** Called when a registered server could not be reached. */
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

/** Paths of the discovery and the OpenAPI document of a version. All other paths are relayed only as resources. */
const DOCUMENT = /^(?:\/openapi\/v3)?\/apis\/([^/]+)\/([^/]+)\/?$/;

function findDocumented({ method, path }: OtherRequest, apis: RemoteApis): RemoteApi | undefined {
  if (method !== "GET" && method !== "HEAD") return undefined;
  const [, group, version] = DOCUMENT.exec(path) ?? [];
  return group === undefined || version === undefined ? undefined : apis.find(group, version);
}

/** A dot segment in the path, between characters that some servers take for a slash. */
const DOT_SEGMENT = /(?:[/\\]|%2f|%5c)(?:\.|%2e){1,2}(?:[/\\]|%2f|%5c|$)/i;

/** Characters that some servers take for slashes or for the end of a string. */
const UNSAFE = /[\\\p{Cc}]/u;

/**
 * Encodes the path and query anew from the parsed and authorized form. The extension server therefore cannot interpret them
 * differently.
 */
function relayedTarget(info: RequestInfo, query: URLSearchParams): string {
  const path = info.path.replace(/\/$/, "").split("/").map(encodeURIComponent).join("/");
  // The hash in a schema request may be outdated, and the extension server would answer with a redirect.
  if (info.type === "other" && path.startsWith("/openapi/")) return path;
  const rest = info.type === "resource" ? info.rest : "";
  return query.size === 0 ? path + rest : `${path}${rest}?${query.toString()}`;
}

/** `watch/` and `proxy/` are verbs in this server's paths, while an extension server may have resources of these names. */
function isOldForm(info: RequestInfo): boolean {
  if (info.type === "other") return false;
  return info.verb === "proxy" || (info.verb === "watch" && !isMethodFit(info));
}

/** Clients show this text for a plain 503. */
const UNAVAILABLE = "the server is currently unable to handle the request";

function handOn(exchange: Exchange, api: RemoteApi, parts: AggregationParts): Reply {
  const { request, info, query, user } = exchange;
  if (user === undefined) throw new Error("a request must be authenticated before it is relayed");
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
    user: user.name,
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
