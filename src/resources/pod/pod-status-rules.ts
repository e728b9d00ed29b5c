/** What agents and schedulers may write into a pod's status. */

import { type FieldErrors, type FieldPath, fieldPath } from "../../api/field-error.ts";
import type {
  ContainerStatus,
  Pod,
  PodCondition,
  PodSpec,
  PodStatus,
} from "../../api/generated/types/core-v1.ts";
import { findIpAddress, legacyIpAddress } from "../../api/ip-address.ts";
import { dns1123Subdomain, qualifiedName } from "../../api/names.ts";
import type { Draft } from "../kind-rules.ts";
import { addNew } from "../value-rules.ts";
import { canRestartAll } from "./container/restart-rules.ts";
import { isSidecar } from "./pod-resources.ts";

const SYSTEM_CONDITIONS: ReadonlySet<string> = new Set(["PodScheduled", "Ready", "Initialized"]);

/** `podIP` is the first of `podIPs`; who writes only one of them gets the other. */
export function syncPodIps(status: Draft<PodStatus>): void {
  const [first] = status.podIPs ?? [];
  if (status.podIP === undefined) {
    if (first !== undefined) status.podIP = first.ip;
  } else if (first?.ip !== status.podIP) {
    status.podIPs = [{ ip: status.podIP }];
  }
}

export function checkPodStatus(next: Pod, previous: Pod, errors: FieldErrors): void {
  const path = fieldPath("status");
  checkConditions(next.status.conditions ?? [], fieldPath("metadata", "conditions"), errors);
  const { nominatedNodeName = "" } = next.status;
  if (nominatedNodeName !== "" && nominatedNodeName !== previous.status.nominatedNodeName) {
    errors.invalidFor(
      path.child("nominatedNodeName"),
      nominatedNodeName,
      dns1123Subdomain(nominatedNodeName),
    );
  }
  errors.immutable(path.child("qosClass"), next.status.qosClass, previous.status.qosClass);
  checkTransitions(next, previous, errors);
  checkClaimStatuses(next, path.child("resourceClaimStatuses"), errors);
  checkIps(next.status.podIPs ?? [], path.child("podIPs"), errors);
  checkHostIps(next.status, path.child("hostIPs"), errors);
}

function checkConditions(conditions: readonly PodCondition[], path: FieldPath, errors: FieldErrors): void {
  for (const [i, { type }] of conditions.entries()) {
    if (SYSTEM_CONDITIONS.has(type)) continue;
    errors.invalidFor(path.index(i).child("Type"), type, qualifiedName(type));
  }
}

function checkTransitions(next: Pod, previous: Pod, errors: FieldErrors): void {
  // One container may bring back all others, whatever is said of them.
  const restartPolicy = canRestartAll(previous.spec) ? "Always" : (previous.spec.restartPolicy ?? "Always");
  for (const list of ["containerStatuses", "initContainerStatuses", "ephemeralContainerStatuses"] as const) {
    // Ephemeral containers are never started again.
    const policy = list === "ephemeralContainerStatuses" ? "Never" : restartPolicy;
    if (policy === "Always") continue;
    const now = next.status[list] ?? [];
    for (const [i, status] of (previous.status[list] ?? []).entries()) {
      if (mayRestart(status, { policy, spec: previous.spec }) || !isRevived(status, now)) continue;
      const at = fieldPath("status", list).index(i).child("state");
      errors.forbidden(at, "may not be transitioned to non-terminated state");
    }
  }
}

function mayRestart(
  { name, state }: ContainerStatus,
  { policy, spec }: { readonly policy: string; readonly spec: PodSpec },
): boolean {
  if (state.terminated === undefined) return true;
  if (state.terminated.exitCode !== 0 && policy === "OnFailure") return true;
  const container = [...(spec.initContainers ?? []), ...spec.containers].find((each) => each.name === name);
  // Its own restart policy, where a container has one, stands over the pod's.
  return container !== undefined && (isSidecar(container) || container.restartPolicy !== undefined);
}

function isRevived(status: ContainerStatus, now: readonly ContainerStatus[]): boolean {
  return now.some(({ name, state }) => name === status.name && state.terminated === undefined);
}

function checkClaimStatuses({ spec, status }: Pod, path: FieldPath, errors: FieldErrors): void {
  const known = new Set((spec.resourceClaims ?? []).map(({ name }) => name));
  const seen = new Set<string>();
  for (const [i, { name, resourceClaimName }] of (status.resourceClaimStatuses ?? []).entries()) {
    const at = path.index(i).child("name");
    if (!known.has(name))
      errors.invalid(at, name, "must match the name of an entry in `spec.resourceClaims`");
    if (!addNew(seen, name)) errors.duplicate(at, name);
    if (resourceClaimName !== undefined)
      errors.invalidFor(at, resourceClaimName, dns1123Subdomain(resourceClaimName));
  }
}

/** At most one address of each family. */
function checkIps(ips: readonly { readonly ip: string }[], path: FieldPath, errors: FieldErrors): void {
  for (const [i, { ip }] of ips.entries()) errors.invalidFor(path.index(i), ip, legacyIpAddress(ip));
  if (ips.length < 2) return;
  const families = new Set(ips.map(({ ip }) => findIpAddress(ip)?.family));
  if (families.size !== 2 || ips.length > 2) {
    errors.invalid(path, ips, "may specify no more than one IP for each IP family");
  }
  const seen = new Set<string>();
  for (const [i, ip] of ips.entries()) {
    if (!addNew(seen, ip.ip)) errors.duplicate(path.index(i), ip);
  }
}

function checkHostIps({ hostIP, hostIPs = [] }: PodStatus, path: FieldPath, errors: FieldErrors): void {
  const [first] = hostIPs;
  if (first !== undefined && first.ip !== (hostIP ?? "")) {
    errors.invalid(path.index(0).child("ip"), first.ip, "must be equal to `hostIP`");
  }
  checkIps(hostIPs, path, errors);
}
