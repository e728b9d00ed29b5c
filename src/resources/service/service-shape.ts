/** Questions that the rules of a Service ask of it. */

import type { Service, ServiceSpec } from "../../api/generated/types/core-v1.ts";

const WITH_ADDRESS: readonly (string | undefined)[] = ["ClusterIP", "NodePort", "LoadBalancer"];

export function needsClusterIp({ type }: Pick<ServiceSpec, "type">): boolean {
  return WITH_ADDRESS.includes(type);
}

/** A load balancer may reach pods without going through the nodes' ports. */
export function needsNodePorts({ type, allocateLoadBalancerNodePorts }: ServiceSpec): boolean {
  return type === "NodePort" || (type === "LoadBalancer" && allocateLoadBalancerNodePorts !== false);
}

/** Load balancers that send traffic only to nodes with a pod must find out which have one. */
export function needsHealthCheckPort({ type, externalTrafficPolicy }: ServiceSpec): boolean {
  return type === "LoadBalancer" && externalTrafficPolicy === "Local";
}

export function isExternallyAccessible({ type, externalIPs = [] }: ServiceSpec): boolean {
  if (type === "NodePort" || type === "LoadBalancer") return true;
  return type === "ClusterIP" && externalIPs.length > 0;
}

/** Reached by the addresses of its pods; it has none of its own. */
export function isHeadless({ spec: { clusterIPs = [] } }: Pick<Service, "spec">): boolean {
  return clusterIPs.length === 1 && clusterIPs[0] === "None";
}
