/**
 * Completes the address and port fields of a Service from each other and from the stored object. The server
 * allocates addresses and ports afterwards.
 */

import type { ServiceSpec } from "../../api/generated/types/core-v1.ts";
import type { Draft } from "../rules/kind-rules.ts";
import { isSame } from "../rules/value-rules.ts";
import {
  isExternallyAccessible,
  needsClusterIp,
  needsHealthCheckPort,
  needsNodePorts,
} from "./service-shape.ts";

/** Old clients only set `clusterIP`: the list follows it. */
export function syncClusterIps(spec: Draft<ServiceSpec>, previous: ServiceSpec | undefined): void {
  const { clusterIP = "", clusterIPs = [] } = spec;
  if (previous !== undefined) {
    syncChangedIps(spec, previous);
  } else if (clusterIP !== "" && clusterIPs.length === 0) {
    spec.clusterIPs = [clusterIP];
  }
}

function syncChangedIps(spec: Draft<ServiceSpec>, previous: ServiceSpec): void {
  const { clusterIP = "", clusterIPs = [] } = spec;
  const before = previous.clusterIPs ?? [];
  if (clusterIP === (previous.clusterIP ?? "")) {
    // An old client, which does not know the list.
    if (clusterIPs.length === 0 && before.length > 0) spec.clusterIPs = [...before];
    return;
  }
  if (!isSame(clusterIPs, before)) return;
  if (clusterIP === "") delete spec.clusterIPs;
  else spec.clusterIPs = [clusterIP];
}

/** An update that omits allocated values keeps them. */
export function keepAllocated(spec: Draft<ServiceSpec>, previous: ServiceSpec): void {
  if (needsClusterIp(previous) && needsClusterIp(spec)) keepClusterIps(spec, previous);
  if (needsNodePorts(previous) && needsNodePorts(spec)) keepNodePorts(spec, previous);
  const isChecked = needsHealthCheckPort(previous) && needsHealthCheckPort(spec);
  if (isChecked && previous.healthCheckNodePort !== undefined) {
    spec.healthCheckNodePort ??= previous.healthCheckNodePort;
  }
}

function keepClusterIps(spec: Draft<ServiceSpec>, { clusterIP, clusterIPs }: ServiceSpec): void {
  if ((spec.clusterIP ?? "") === "" && clusterIP !== undefined) spec.clusterIP = clusterIP;
  const isListed = (spec.clusterIPs ?? []).length > 0;
  if (!isListed && spec.clusterIP === clusterIP && clusterIPs !== undefined)
    spec.clusterIPs = [...clusterIPs];
}

/** Matches ports by name. A node port that another new port requests is not reused. */
function keepNodePorts(spec: Draft<ServiceSpec>, previous: ServiceSpec): void {
  const asked = new Set((spec.ports ?? []).map(({ nodePort }) => nodePort));
  const before = new Map((previous.ports ?? []).map(({ name = "", nodePort }) => [name, nodePort]));
  for (const port of spec.ports ?? []) {
    const known = before.get(port.name ?? "");
    if (port.nodePort === undefined && known !== undefined && !asked.has(known)) port.nodePort = known;
  }
}

/**
 * Drops fields that the new type does not have. A field that the update itself sets stays, and validation
 * reports it.
 */
export function dropFieldsOfOldType(spec: Draft<ServiceSpec>, previous: ServiceSpec): void {
  const lost = (has: (spec: ServiceSpec) => boolean): boolean => has(previous) && !has(spec);
  if (lost(needsClusterIp)) {
    if (isSame(spec.clusterIPs, previous.clusterIPs)) {
      delete spec.clusterIP;
      delete spec.clusterIPs;
    }
    dropUnchanged(spec, previous, ["ipFamilies", "ipFamilyPolicy"]);
  }
  if (lost(needsNodePorts) && isSame(nodePorts(spec), nodePorts(previous))) {
    for (const port of spec.ports ?? []) delete port.nodePort;
  }
  if (lost(needsHealthCheckPort)) dropUnchanged(spec, previous, ["healthCheckNodePort"]);
  if (lost(({ type }) => type === "LoadBalancer")) {
    dropUnchanged(spec, previous, ["allocateLoadBalancerNodePorts", "loadBalancerClass"]);
  }
  if (lost(isExternallyAccessible)) dropUnchanged(spec, previous, ["externalTrafficPolicy"]);
}

type OptionalField =
  | "ipFamilies"
  | "ipFamilyPolicy"
  | "healthCheckNodePort"
  | "allocateLoadBalancerNodePorts"
  | "loadBalancerClass"
  | "externalTrafficPolicy";

function dropUnchanged(
  spec: Draft<ServiceSpec>,
  previous: ServiceSpec,
  fields: readonly OptionalField[],
): void {
  for (const field of fields) {
    if (isSame(spec[field], previous[field])) delete spec[field];
  }
}

function nodePorts({ ports = [] }: ServiceSpec): readonly (number | undefined)[] {
  return ports.map(({ nodePort }) => nodePort);
}

/**
 * Removes the secondary address and family when the policy becomes SingleStack and the client kept the lists.
 */
export function trimToSingleStack(spec: Draft<ServiceSpec>, previous: ServiceSpec): void {
  if (spec.ipFamilyPolicy !== "SingleStack" || previous.ipFamilyPolicy === "SingleStack") return;
  if (isSame(spec.clusterIPs, previous.clusterIPs)) spec.clusterIPs = (spec.clusterIPs ?? []).slice(0, 1);
  if (isSame(spec.ipFamilies, previous.ipFamilies)) spec.ipFamilies = (spec.ipFamilies ?? []).slice(0, 1);
}
