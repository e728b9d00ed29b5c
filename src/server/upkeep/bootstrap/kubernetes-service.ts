/** The Service `kubernetes`, through which pods reach the API server, and its endpoints. */
import type { Endpoints, Service } from "../../../api/generated/types/core-v1.ts";
import type { EndpointSlice } from "../../../api/generated/types/discovery-v1.ts";
import type { JsonObject } from "../../../api/json/json-object.ts";
import { jsonEqual } from "../../../api/patch/json-equal.ts";
import { findCidr, findIpAddress, ipAddressText } from "../../../api/values/ip-address.ts";
import type { Registry } from "../../objects/registry.ts";
import { requireStored } from "../../objects/registry.ts";
import { AddressRange } from "../../write/companions/address-range.ts";
import type { RequiredObjects, RequiredObject } from "../required-objects.ts";

const NAME = "kubernetes";
const NAMESPACE = "default";
const PORT_NAME = "https";
const PORT = 443;

export interface KubernetesServiceParts {
  readonly registry: Registry;
  /** Range of the Service's address, which is the first in it. */
  readonly cidr: string;
  /** Addresses of live servers, always including this one. All are of one family and none is a loopback address. */
  readonly addresses: () => readonly string[];
  /** Prefix of the server leases that determine the addresses, when there may be several servers. */
  readonly source: string | undefined;
  readonly port: number;
}

export function kubernetesService(parts: KubernetesServiceParts): readonly RequiredObjects[] {
  return [
    {
      name: "service of the API server",
      boot: ["poststarthook/bootstrap-controller"],
      objects: [service(parts)],
    },
    {
      name: "endpoints of the API server",
      boot: ["poststarthook/bootstrap-controller"],
      objects: [endpoints(parts), endpointSlice(parts)],
      ...(parts.source !== undefined && { source: parts.source }),
    },
  ];
}

function service({ registry, cidr, port }: KubernetesServiceParts): RequiredObject {
  const ports = [{ name: PORT_NAME, protocol: "TCP", port: PORT, targetPort: port }];
  return {
    resource: requireStored(registry, "", "services"),
    namespace: NAMESPACE,
    name: NAME,
    manifest: () => ({
      metadata: { labels: { component: "apiserver", provider: "kubernetes" } },
      spec: { type: "ClusterIP", clusterIP: firstServiceAddress(cidr), sessionAffinity: "None", ports },
    }),
    corrected: (live) => {
      const { spec } = live as Service;
      return { ...live, spec: { ...spec, type: "ClusterIP", ports } };
    },
    isOfOtherServer: (live) => {
      const { spec } = live as Service;
      return spec.type === "ClusterIP" && spec.ports?.length === 1 && spec.ports[0]?.port === PORT;
    },
  };
}

function endpoints({ registry, addresses, port }: KubernetesServiceParts): RequiredObject {
  const ports = [{ name: PORT_NAME, port, protocol: "TCP" }];
  const subsets = (): readonly JsonObject[] => [{ addresses: addresses().map((ip) => ({ ip })), ports }];
  return {
    resource: requireStored(registry, "", "endpoints"),
    namespace: NAMESPACE,
    name: NAME,
    manifest: () => ({
      // The server maintains the EndpointSlice itself.
      metadata: { labels: { "endpointslice.kubernetes.io/skip-mirror": "true" } },
      subsets: subsets(),
    }),
    corrected: (live) => ({ ...live, subsets: subsets() }),
    isOfOtherServer: (live) => {
      const [first, ...others] = (live as Endpoints).subsets ?? [];
      if (others.length > 0 || !isServerPort(first?.ports ?? [])) return false;
      return jsonEqual(first?.addresses?.map(({ ip }) => ip) ?? [], addresses());
    },
  };
}

function endpointSlice({ registry, addresses, port }: KubernetesServiceParts): RequiredObject {
  const parts = (): JsonObject => ({
    endpoints: addresses().map((address) => ({ addresses: [address], conditions: { ready: true } })),
    ports: [{ name: PORT_NAME, port, protocol: "TCP" }],
  });
  return {
    resource: requireStored(registry, "discovery.k8s.io", "endpointslices"),
    namespace: NAMESPACE,
    name: NAME,
    manifest: () => ({
      metadata: { labels: { "kubernetes.io/service-name": NAME } },
      addressType: findIpAddress(addresses()[0] ?? "")?.family ?? "IPv4",
      ...parts(),
    }),
    corrected: (live) => ({ ...live, ...parts() }),
    isOfOtherServer: (live) => {
      const { endpoints: found, ports } = live as EndpointSlice;
      const isReady = found.every(({ conditions }) => conditions?.ready === true);
      const told = found.flatMap((endpoint) => endpoint.addresses);
      return isServerPort(ports) && isReady && jsonEqual(told, addresses());
    },
  };
}

/** Servers on one machine listen on different ports. The endpoints show the port of the last writer. */
function isServerPort(ports: readonly { readonly name?: string }[]): boolean {
  return ports.length === 1 && ports[0]?.name === PORT_NAME;
}

export function firstServiceAddress(cidr: string): string {
  const block = findCidr(cidr);
  if (block === undefined) throw new Error(`the service range ${cidr} is no CIDR block`);
  return ipAddressText(new AddressRange(block).first);
}
