/** Predicates about the type of a Service. */

import type { Service, ServiceSpec } from "../../api/generated/types/core-v1.ts";

const WITH_ADDRESS: readonly (string | undefined)[] = ["ClusterIP", "NodePort", "LoadBalancer"];

export function needsClusterIp({ type }: Pick<ServiceSpec, "type">): boolean {
  return WITH_ADDRESS.includes(type);
}

/** A load balancer may route to pods directly, without node ports. */
export function needsNodePorts({ type, allocateLoadBalancerNodePorts }: ServiceSpec): boolean {
  return type === "NodePort" || (type === "LoadBalancer" && allocateLoadBalancerNodePorts !== false);
}

/** The load balancer probes the port to find the nodes that run a pod of the Service. */
export function needsHealthCheckPort({ type, externalTrafficPolicy }: ServiceSpec): boolean {
  return type === "LoadBalancer" && externalTrafficPolicy === "Local";
}

export function isExternallyAccessible({ type, externalIPs = [] }: ServiceSpec): boolean {
  if (type === "NodePort" || type === "LoadBalancer") return true;
  return type === "ClusterIP" && externalIPs.length > 0;
}

/** A headless Service has no cluster IP: clients connect to its pods. */
export function isHeadless({ spec: { clusterIPs = [] } }: Pick<Service, "spec">): boolean {
  return clusterIPs.length === 1 && clusterIPs[0] === "None";
}
