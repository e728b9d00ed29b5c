/** Connects clients to the kubelet of a pod: logs, exec, attach and port forwarding. */
import {
  badRequest,
  DeniedError,
  methodNotAllowed,
  notFound,
  unknownResource,
} from "../../api/errors/api-error.ts";
import type { ApiError } from "../../api/errors/api-error.ts";
import type { Pod } from "../../api/generated/types/core-v1.ts";
import type { Loop } from "../../base/loop/loop.ts";
import { isStored } from "../objects/registry.ts";
import type { Registry, StoredResource } from "../objects/registry.ts";
import { StoredObject } from "../objects/stored-object.ts";
import { keyOf } from "../objects/versions.ts";
import type { Relay, RelayPlace } from "../relay/relay.ts";
import type { Call } from "../request/call.ts";
import type { Exchange, Stage } from "../request/exchange.ts";
import type { HttpResponse } from "../request/http.ts";
import { isTrue } from "../request/parse-request.ts";
import type { ResourceRequest } from "../request/request-info.ts";
import { resolve } from "../verbs/dispatch.ts";
import { admitConnection } from "../verbs/subresources/connect-admission.ts";
import type { ConnectParts } from "../verbs/subresources/connect-admission.ts";
import { findCommandProtocol, translateCommand } from "./command-translation.ts";
import { commandPath, logPath, portForwardPath } from "./kubelet-paths.ts";
import type { NodeLink } from "./node-link.ts";
import { checkConnection, checkLogOptions } from "./pod-connection.ts";
import { sendLog } from "./pod-log.ts";
import { asksForTunnel, tunnelPorts } from "./port-tunnel.ts";

export interface ConnectPodsParts extends ConnectParts {
  readonly loop: Loop;
  readonly registry: Registry;
  readonly relay: Relay;
  readonly link: NodeLink;
}

const CONNECTIONS: ReadonlySet<string> = new Set(["log", "exec", "attach", "portforward"]);
/** Wait for the head of a kubelet's response. */
const HEAD_MS = 30_000;

export function connectPods(parts: ConnectPodsParts): Stage {
  return (exchange, next) => {
    const { info } = exchange;
    if (info.type === "other" || info.group !== "" || info.resource !== "pods") return next(exchange);
    if (!CONNECTIONS.has(info.subresource) || info.verb === "watch") return next(exchange);
    return connect(exchange, info, parts);
  };
}

async function connect(
  exchange: Exchange,
  info: ResourceRequest,
  parts: ConnectPodsParts,
): Promise<HttpResponse> {
  const { request, query, notes, user } = exchange;
  if (user === undefined) throw new Error("a request must be authenticated before it is connected");
  const call = connectCall(resolve({ request, info, query, user, notes }, parts.registry));
  const { subresource } = info;
  if (subresource === "log") checkLogOptions(info.name, query);
  await admitConnection(call, parts);
  const pod = await findPod(call, parts);
  checkConnection(pod, subresource, query);
  const { nodeName = "" } = pod.spec;
  // As upstream, the log of a pod without a node is empty.
  if (nodeName === "") return { status: 204, headers: new Map(), body: new Uint8Array() };
  const target = await parts.link.kubelet(nodeName);
  const common = { ...target, user: user.name, headers: {}, isWatch: false, headMs: HEAD_MS };
  if (subresource === "log") {
    const path = logPath(pod, query);
    const trust = isTrue(query.get("insecureSkipTLSVerifyBackend"))
      ? { isVerificationOff: true }
      : target.trust;
    // A kubelet sends the head with the first line, which may be hours away.
    const headMs = isTrue(query.get("follow")) ? Number.POSITIVE_INFINITY : HEAD_MS;
    return sendLog(call, { ...common, headMs, trust, method: "GET", target: path }, parts.relay);
  }
  if (request.isUpgrade !== true) throw badRequest("Upgrade request required");
  const { method } = info;
  if (subresource !== "portforward") {
    const path = commandPath(pod, subresource === "exec" ? "exec" : "attach", query);
    return connectCommand(call, { ...common, method, target: path, unreached }, parts);
  }
  const place = { ...common, method, target: portForwardPath(pod, query), unreached };
  return asksForTunnel(request) ? tunnelPorts(request, place, parts) : parts.relay.send(request, place);
}

/** Only the newest protocol is translated; every kubelet speaks the others. */
function connectCommand(
  { request, query }: Call,
  place: RelayPlace,
  parts: ConnectPodsParts,
): Promise<HttpResponse> {
  const protocol = findCommandProtocol(request);
  if (protocol === undefined) return parts.relay.send(request, place);
  const flag = (name: string): boolean => isTrue(query.get(name));
  const options = {
    stdin: flag("stdin"),
    stdout: flag("stdout"),
    stderr: flag("stderr") && !flag("tty"),
    tty: flag("tty"),
  };
  return translateCommand({ request, place, protocol, options }, parts);
}

/** Upstream's error for a kubelet that cannot be reached; it has no reason. */
function unreached(why: string): ApiError {
  return new DeniedError(`error dialing backend: ${why}`, { code: 500 });
}

function connectCall(call: Call): Call<StoredResource> {
  const { resource, info } = call;
  const facts = resource.facts.subresources.find(({ name }) => name === info.subresource);
  if (!isStored(resource) || facts === undefined || info.rest !== "") throw unknownResource();
  if (!facts.verbs.some((served) => served === info.verb)) throw methodNotAllowed();
  return { ...call, resource };
}

async function findPod({ info, resource }: Call<StoredResource>, { store }: ConnectParts): Promise<Pod> {
  const entry = (await store.fresh()).get(keyOf(resource, info.namespace, info.name));
  if (entry === undefined) throw notFound({ group: "", resource: "pods" }, info.name);
  return StoredObject.of(entry).object as Pod;
}
