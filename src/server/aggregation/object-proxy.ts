/**
 * Proxies requests to pods, Services and nodes (`pods/NAME/proxy/…`). Objects name the target, so one place finds and checks the
 * address. It refuses addresses such as loopback, link-local and metadata services.
 */
import { badRequest, notFound, serviceUnavailable } from "../../api/errors/api-error.ts";
import type { Pod, ServicePort } from "../../api/generated/types/core-v1.ts";
import type { Endpoint } from "../../api/generated/types/discovery-v1.ts";
import type { Loop } from "../../base/loop/loop.ts";
import type { Store, View } from "../../store/store.ts";
import type { Admission } from "../admission/admission.ts";
import { isDialable } from "../egress/address-check.ts";
import type { OpenEgress } from "../egress/create-egress.ts";
import { readyEnds } from "../egress/service-lookup.ts";
import type { ServiceEnd } from "../egress/service-lookup.ts";
import type { NodeLink } from "../nodes/node-link.ts";
import type { Registry } from "../objects/registry.ts";
import { isStored } from "../objects/registry.ts";
import { StoredObject } from "../objects/stored-object.ts";
import { findConnectionName } from "../relay/connection-name.ts";
import type { ConnectionName } from "../relay/connection-name.ts";
import { unreachedText } from "../relay/relay.ts";
import type { Relay, RelayPlace, RelayTarget } from "../relay/relay.ts";
import type { Exchange, Stage } from "../request/exchange.ts";
import type { AcceptedRequest, HttpResponse } from "../request/http.ts";
import type { ResourceRequest } from "../request/request-info.ts";
import { resolve } from "../verbs/dispatch.ts";
import { admitConnection } from "../verbs/subresources/connect-admission.ts";

export interface ProxyParts {
  readonly loop: Loop;
  readonly store: Store;
  readonly registry: Registry;
  readonly admission: Pick<Admission, "pass">;
  readonly egress: OpenEgress;
  readonly relay: Relay;
  readonly link: NodeLink;
}

const KINDS: Readonly<Record<string, string>> = { pods: "pod", services: "service", nodes: "node" };

export function proxyObjects(verbParts: ProxyParts): Stage {
  return (exchange, next) => {
    const { info } = exchange;
    if (info.type === "other" || info.subresource !== "proxy" || info.group !== "") return next(exchange);
    if (KINDS[info.resource] === undefined) return next(exchange);
    // Upstream has no watch form of this path.
    if (info.verb === "watch") return next(exchange);
    return proxy(exchange, info, verbParts);
  };
}

async function proxy(
  exchange: Exchange,
  info: ResourceRequest,
  verbParts: ProxyParts,
): Promise<HttpResponse> {
  const { request, query, notes, user } = exchange;
  if (user === undefined) throw new Error("a request must be authenticated before it is proxied");
  const call = resolve({ request, info, query, user, notes }, verbParts.registry);
  if (!isStored(call.resource)) throw new Error("pods, services and nodes are stored");
  await admitConnection({ ...call, resource: call.resource }, verbParts);
  const name = findConnectionName(info.name);
  if (name === undefined)
    throw badRequest(`invalid ${KINDS[info.resource]} request ${JSON.stringify(info.name)}`);
  const target =
    info.resource === "nodes" ? await nodeTarget(name, verbParts) : await endTarget(name, info, verbParts);
  const base = baseOf(info);
  if (info.rest === "" && asksForPage(request, info)) return redirect(base, info);
  return verbParts.relay.send(request, { ...relayPlace(request, info, target), user: user.name });
}

/** Without a port, or with the kubelet's, the request goes to the kubelet with this server's certificate. */
async function nodeTarget({ name, port, isTls }: ConnectionName, { link }: ProxyParts): Promise<RelayTarget> {
  const number = Number(port);
  if (port === "" || (await link.isKubeletPort(name, number))) return link.kubelet(name);
  if (!isPortNumber(number)) throw badRequest(`invalid node request ${JSON.stringify(`${name}:${port}`)}`);
  return link.port(name, number, isTls ? "https" : "http");
}

async function endTarget(
  name: ConnectionName,
  info: ResourceRequest,
  verbParts: ProxyParts,
): Promise<RelayTarget> {
  const view = await verbParts.store.fresh();
  const find = info.resource === "pods" ? podEnd : serviceEnd;
  const { host, port } = find(name, info, { verbParts, view });
  if (!isDialable(host, "reported")) throw badRequest("address not allowed");
  const authority = host.includes(":") ? `[${host}]:${port}` : `${host}:${port}`;
  return {
    address: { host, port, serverName: host, authority, basePath: "", isTls: name.isTls },
    origin: "reported",
    // No object names the certificate to expect.
    trust: { isVerificationOff: true },
  };
}

function relayPlace(
  { headers }: AcceptedRequest,
  info: ResourceRequest,
  target: RelayTarget,
): Omit<RelayPlace, "user"> {
  const { method, rest, rawPath, rawQuery } = info;
  const { authority } = target.address;
  const ownHost = headers.get("host");
  return {
    ...target,
    method,
    target: (rest === "" ? "/" : rest) + rawQuery,
    headers: {
      ...(ownHost !== undefined && { host: ownHost }),
      "x-forwarded-host": ownHost ?? "",
      "x-forwarded-proto": "https",
      "x-forwarded-uri": rawPath,
    },
    isWatch: false,
    unreached: (why) => serviceUnavailable(unreachedText(why)),
    relink: (link) => relocated(link, { base: baseOf(info), hosts: [authority, ownHost] }),
  };
}

/** The path up to and including `proxy`, as sent. */
function baseOf({ rawPath, rest }: ResourceRequest): string {
  return rawPath.slice(0, rawPath.length - rest.length);
}

function asksForPage({ isUpgrade = false }: AcceptedRequest, { method }: ResourceRequest): boolean {
  return (method === "GET" || method === "HEAD") && !isUpgrade;
}

/** Redirects to the same path with a trailing slash, on which relative links of the page depend. */
function redirect(base: string, { rawQuery }: ResourceRequest): HttpResponse {
  const location = `${base}/${rawQuery}`;
  return { status: 301, headers: new Map([["location", location]]), body: new Uint8Array() };
}

interface ProxyPlace {
  readonly base: string;
  /** Host names that the target may use for itself. */
  readonly hosts: readonly (string | undefined)[];
}

/** Leads links to the same server through the proxy. Other links stay unchanged. */
function relocated(link: string, { base, hosts }: ProxyPlace): string {
  if (link.startsWith("/") && !link.startsWith("//")) return within(base, link);
  const url = URL.canParse(link) ? new URL(link) : undefined;
  if (url === undefined || !hosts.includes(url.host)) return link;
  return within(base, url.pathname + url.search + url.hash);
}

/** A target that knows its proxy path already includes it. */
function within(base: string, path: string): string {
  return path.startsWith(base) ? path : base + path;
}

const HTTP_PORT = 80;
const HTTPS_PORT = 443;

interface Surroundings {
  readonly verbParts: ProxyParts;
  readonly view: View;
}

function podEnd(
  { name, port, isTls }: ConnectionName,
  { namespace }: ResourceRequest,
  { verbParts, view }: Surroundings,
): ServiceEnd {
  const pod = findPod(view, namespace, name);
  if (pod === undefined) throw notFound({ group: "", resource: "pods" }, name);
  const first = pod.spec.containers.flatMap(({ ports = [] }) => ports)[0]?.containerPort;
  const number = port === "" ? (first ?? (isTls ? HTTPS_PORT : HTTP_PORT)) : Number(port);
  if (!isPortNumber(number)) throw badRequest(`invalid pod request ${JSON.stringify(`${name}:${port}`)}`);
  if (!verbParts.egress.services.hasPodNetwork(pod.spec.nodeName))
    throw serviceUnavailable(
      `pod ${JSON.stringify(name)} is on a node without a pod network, and no process answers for it`,
    );
  return { host: pod.status.podIP ?? "", port: number };
}

function isPortNumber(port: number): boolean {
  return Number.isInteger(port) && port >= 1 && port <= 65_535;
}

function findPod(view: View, namespace: string, name: string): Pod | undefined {
  const entry = view.get(`/registry/pods/${namespace}/${name}`);
  return entry === undefined ? undefined : (StoredObject.of(entry).object as Pod);
}

/** Picks a random ready pod of the Service. Addresses without a pod are refused, because users may write endpoints. */
function serviceEnd(
  { name, port }: ConnectionName,
  { namespace }: ResourceRequest,
  { verbParts, view }: Surroundings,
): ServiceEnd {
  const { services } = verbParts.egress;
  const service = services.findService({ namespace, name });
  if (service === undefined) throw notFound({ group: "", resource: "services" }, name);
  const isNumber = /^\d+$/.test(port);
  const servicePort = service.spec.ports?.find((each) => isPort(each, port, isNumber));
  if (servicePort === undefined && isNumber)
    throw serviceUnavailable(`no service port ${port} found for service ${JSON.stringify(name)}`);
  const slices = services.slices({ namespace, name }).map((slice) => ({
    ...slice,
    endpoints: slice.endpoints.filter((each) => isPodsOwn(each, namespace, view)),
  }));
  const ready = servicePort === undefined ? [] : readyEnds(slices, servicePort);
  const ends = ready.filter(({ nodeName }) => services.hasPodNetwork(nodeName));
  const end = ends[verbParts.loop.random("proxy").below(Math.max(ends.length, 1))];
  if (end === undefined)
    throw serviceUnavailable(`no endpoints available for service ${JSON.stringify(name)}`);
  return end;
}

function isPort({ name = "", port: number }: ServicePort, port: string, isNumber: boolean): boolean {
  return isNumber ? number === Number(port) : name === port;
}

function isPodsOwn({ addresses, targetRef }: Endpoint, namespace: string, view: View): boolean {
  if (targetRef?.kind !== "Pod" || (targetRef.namespace ?? namespace) !== namespace) return false;
  const pod = findPod(view, namespace, targetRef.name ?? "");
  const own = [pod?.status.podIP, ...(pod?.status.podIPs ?? []).map(({ ip }) => ip)];
  return addresses.every((address) => own.includes(address));
}
