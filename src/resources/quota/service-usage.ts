import type { Service } from "../../api/generated/types/core-v1.ts";
import type { ResourceList } from "../rules/resource-amount.ts";

/** Usage of node ports and load balancers; `countNames` counts the Service itself. */
export function serviceUsage({ spec }: Service): ResourceList {
  const { ports = [], type } = spec;
  if (type === "NodePort") return used(ports.length, 0);
  if (type !== "LoadBalancer") return used(0, 0);
  if (spec.allocateLoadBalancerNodePorts !== false) return used(ports.length, 1);
  return used(ports.filter(({ nodePort }) => nodePort !== undefined && nodePort !== 0).length, 1);
}

function used(nodePorts: number, loadBalancers: number): ResourceList {
  return { "services.nodeports": String(nodePorts), "services.loadbalancers": String(loadBalancers) };
}
