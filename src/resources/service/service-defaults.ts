/** Defaults of a Service. */

import type { Service, ServicePort, ServiceSpec } from "../../api/generated/types/core-v1.ts";
import type { Draft } from "../rules/kind-rules.ts";
import { isExternallyAccessible, needsClusterIp } from "./service-shape.ts";

/** Three hours. */
const AFFINITY_SECONDS = 10_800;

export function serviceDefaults(draft: Draft<Service>): void {
  const { spec } = draft;
  spec.type ??= "ClusterIP";
  affinityDefaults(spec);
  for (const port of spec.ports ?? []) portDefaults(port);
  if (isExternallyAccessible(spec)) spec.externalTrafficPolicy ??= "Cluster";
  if (needsClusterIp(spec)) spec.internalTrafficPolicy ??= "Cluster";
  if (spec.type === "LoadBalancer") loadBalancerDefaults(draft);
}

function portDefaults(port: Draft<ServicePort>): void {
  port.protocol ??= "TCP";
  // Go clients send 0 for an absent target port, and old clients an empty string.
  if (port.targetPort === undefined || port.targetPort === 0 || port.targetPort === "")
    port.targetPort = port.port;
}

function loadBalancerDefaults({ spec, status }: Draft<Service>): void {
  spec.allocateLoadBalancerNodePorts ??= true;
  for (const ingress of status.loadBalancer.ingress ?? []) {
    if (ingress.ip !== undefined) ingress.ipMode ??= "VIP";
  }
}

function affinityDefaults(spec: Draft<ServiceSpec>): void {
  spec.sessionAffinity ??= "None";
  if (spec.sessionAffinity === "None") delete spec.sessionAffinityConfig;
  if (spec.sessionAffinity !== "ClientIP") return;
  if (spec.sessionAffinityConfig?.clientIP?.timeoutSeconds !== undefined) return;
  spec.sessionAffinityConfig = { clientIP: { timeoutSeconds: AFFINITY_SECONDS } };
}
