/** What other servers serve under this one's address: requests for it are handed on once it is known who asks and that they may. */
import { badRequest, serviceUnavailable } from "../../api/api-error.ts";
import type { OpenEgress } from "../egress/create-egress.ts";
import { EgressError } from "../egress/egress.ts";
import type { ClientPair, DialAddress } from "../egress/egress.ts";
import type { Exchange, Reply, Stage } from "../exchange.ts";
import { identityHeaders } from "../relay/forwarded-headers.ts";
import { refusal } from "../relay/relay.ts";
import type { Relay } from "../relay/relay.ts";
import type { RequestInfo } from "../request-info.ts";
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
    const { info, path } = exchange;
    if (info.type === "resource") {
      if (info.group === "") return next(exchange);
      const api = apis.find(info.group, info.version);
      return api === undefined ? next(exchange) : handOn(exchange, api, parts);
    }
    const place = REMOTE_PATH.exec(path);
    const api = place === null ? undefined : apis.find(place[1] ?? "", place[2] ?? "");
    return api === undefined ? next(exchange) : handOn(exchange, api, parts);
  };
}

/** Discovery of a version, its schemas, and whatever else lies below it. */
const REMOTE_PATH = /^(?:\/openapi\/v3)?\/apis\/([^/]+)\/([^/]+)(?:\/|$)/;

const DOT_SEGMENT = /(?:^|\/|%2f)(?:\.|%2e){1,2}(?:\/|%2f|$)/i;

/**
 * What was allowed is what the other server sees: a path that means another one there is not handed on. Here an escaped slash is part of a
 * name, while most servers take it for one that parts the path.
 */
function meansAnother(path: string, info: RequestInfo): boolean {
  if (DOT_SEGMENT.test(path)) return true;
  if (info.type === "other" || !path.includes("%")) return false;
  const { group, version, namespace, resource, name, subresource } = info;
  return [group, version, namespace, resource, name, subresource].some((part) => part.includes("/"));
}

/** What clients make of the plain answer. */
const UNAVAILABLE = "the server is currently unable to handle the request";

function handOn(exchange: Exchange, api: RemoteApi, parts: AggregationParts): Reply {
  const { request, path, info, user } = exchange;
  if (user === undefined) throw new Error("who asks is known before a request is handed on");
  if (meansAnother(path, info)) throw badRequest(`invalid path ${JSON.stringify(path)}`);
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
    // Schemas are asked for by a hash that their server may have replaced; it would answer with a redirect.
    target: path.startsWith("/openapi/") ? path : request.target,
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
