/** Validates the status of a pod that agents and the scheduler write. */

import { type FieldErrors, type FieldPath, fieldPath } from "../../api/errors/field-error.ts";
import type {
  Container,
  ContainerExtendedResourceRequest,
  ContainerStateTerminated,
  ContainerStatus,
  Pod,
  PodCondition,
  PodSpec,
  PodStatus,
} from "../../api/generated/types/core-v1.ts";
import { findIpAddress, legacyIpAddress } from "../../api/values/ip-address.ts";
import { dns1123Label, dns1123Subdomain, qualifiedName } from "../../api/values/names.ts";
import type { Draft } from "../rules/kind-rules.ts";
import { addNew, firstByText, ownValue } from "../rules/value-rules.ts";
import { checkContainerStatuses, STATUS_LISTS } from "./container/container-status-rules.ts";
import { canRestartAll, mayRunAgain } from "./container/restart-rules.ts";

const SYSTEM_CONDITIONS: ReadonlySet<string> = new Set(["PodScheduled", "Ready", "Initialized"]);

/** `podIP` is the first of `podIPs`; a status with only one of them gets the other. */
export function syncPodIps(status: Draft<PodStatus>): void {
  const [first] = status.podIPs ?? [];
  if (status.podIP === undefined) {
    if (first !== undefined) status.podIP = first.ip;
  } else if (first?.ip !== status.podIP) {
    status.podIPs = [{ ip: status.podIP }];
  }
}

/** A client that does not know observed generations must not remove them. */
export function keepObservedGenerations(status: Draft<PodStatus>, previous: PodStatus): void {
  if (previous.observedGeneration !== undefined) status.observedGeneration ??= previous.observedGeneration;
  // A type may occur several times. The list is reversed, so that `pop` returns the first.
  const seen = new Map<string, (number | undefined)[]>();
  for (const { type, observedGeneration } of previous.conditions?.toReversed() ?? []) {
    const sameType = seen.get(type);
    if (sameType === undefined) seen.set(type, [observedGeneration]);
    else sameType.push(observedGeneration);
  }
  for (const condition of status.conditions ?? []) {
    const before = seen.get(condition.type)?.pop();
    if (before !== undefined) condition.observedGeneration ??= before;
  }
}

export function checkPodStatus(next: Pod, previous: Pod, errors: FieldErrors): void {
  const path = fieldPath("status");
  checkConditions(next.status.conditions ?? [], path.child("conditions"), errors);
  checkNomination(next, previous, errors);
  checkGeneration(next.status.observedGeneration, path, errors);
  errors.immutable(path.child("qosClass"), next.status.qosClass, previous.status.qosClass);
  checkTransitions(next, previous, errors);
  checkClaimStatuses(next, path.child("resourceClaimStatuses"), errors);
  if (next.status.extendedResourceClaimStatus !== undefined)
    checkExtendedResourceClaim(next, path.child("extendedResourceClaimStatus"), errors);
  const { podIPs = [], hostIPs = [] } = previous.status;
  checkIps(next.status.podIPs ?? [], { path: path.child("podIPs"), before: podIPs }, errors);
  checkHostIps(next.status, { path: path.child("hostIPs"), before: hostIPs }, errors);
  checkContainerStatuses(next, path, errors);
}

/** Only unbound pods may get a nominated node. */
function checkNomination(next: Pod, previous: Pod, errors: FieldErrors): void {
  const { nominatedNodeName = "" } = next.status;
  if (nominatedNodeName === "" || nominatedNodeName === previous.status.nominatedNodeName) return;
  const path = fieldPath("status", "nominatedNodeName");
  errors.invalidFor(path, nominatedNodeName, dns1123Subdomain(nominatedNodeName));
  if (previous.spec.nodeName !== undefined)
    errors.forbidden(path, "may not be set on pods that are already bound to a node");
}

function checkGeneration(generation: number | undefined, path: FieldPath, errors: FieldErrors): void {
  if (generation !== undefined && generation < 0)
    errors.invalid(path.child("observedGeneration"), generation, "must be a non-negative integer");
}

function checkConditions(conditions: readonly PodCondition[], path: FieldPath, errors: FieldErrors): void {
  for (const [i, { type, observedGeneration }] of conditions.entries()) {
    checkGeneration(observedGeneration, path.index(i), errors);
    if (SYSTEM_CONDITIONS.has(type)) continue;
    errors.invalidFor(path.index(i).child("Type"), type, qualifiedName(type));
  }
}

/**
 * A container that has ended for good must not run again. As upstream, duplicate and unknown names get no
 * other error.
 */
function checkTransitions(next: Pod, previous: Pod, errors: FieldErrors): void {
  const { spec } = previous;
  for (const [list, containers] of STATUS_LISTS) {
    const ended = [...(previous.status[list] ?? []).entries()].filter(([, { state }]) => state.terminated);
    if (ended.length === 0) continue;
    const running = runningNames(next.status[list]);
    const isBack = containers === undefined ? undefined : returnsOf(spec, containers);
    for (const [i, { name, state }] of ended) {
      const { terminated } = state;
      if (terminated === undefined || !running.has(name)) continue;
      if (isBack?.(name, terminated) === true) continue;
      const at = fieldPath("status", list).index(i).child("state");
      errors.forbidden(at, "may not be transitioned to non-terminated state");
    }
  }
}

/** Whether a container may be there again. One may bring back all others, whatever is said of them. */
function returnsOf(
  spec: PodSpec,
  list: "containers" | "initContainers",
): (name: string, terminated: ContainerStateTerminated) => boolean {
  if (canRestartAll(spec)) return () => true;
  const containers = firstByText(spec[list] ?? [], ({ name }) => name);
  return (name, { exitCode }) => {
    const own = containers.get(name);
    return own !== undefined && mayRunAgain(own, spec, exitCode);
  };
}

function runningNames(statuses: readonly ContainerStatus[] = []): ReadonlySet<string> {
  return new Set(statuses.filter(({ state }) => state.terminated === undefined).map(({ name }) => name));
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

/** Validates the claim for the extended resources that the containers request. */
function checkExtendedResourceClaim({ spec, status }: Pod, path: FieldPath, errors: FieldErrors): void {
  const claim = status.extendedResourceClaimStatus;
  if (claim === undefined) return;
  const mappings = path.child("requestMappings");
  if (claim.requestMappings.length === 0)
    errors.required(mappings, "at least one request mapping is required");
  const containers = new Map(
    [...(spec.initContainers ?? []), ...spec.containers].map((container) => [container.name, container]),
  );
  const seen = new Set<string>();
  for (const [i, mapping] of claim.requestMappings.entries()) {
    const { containerName, resourceName, requestName } = mapping;
    const at = mappings.index(i);
    checkMapping(mapping, containers.get(containerName), { path: at, errors });
    // Upstream's path for this error has no index.
    errors.invalidFor(path.child("requestName"), requestName, dns1123Label(requestName));
    if (addNew(seen, JSON.stringify([containerName, resourceName, requestName]))) continue;
    errors.duplicate(at.child("containerName"), containerName);
    errors.duplicate(at.child("resourceName"), resourceName);
    errors.duplicate(at.child("requestName"), requestName);
  }
  const name = path.child("resourceClaimName");
  if (claim.resourceClaimName === "") errors.required(name);
  else errors.invalidFor(name, claim.resourceClaimName, dns1123Subdomain(claim.resourceClaimName));
}

function checkMapping(
  { containerName, resourceName }: ContainerExtendedResourceRequest,
  container: Container | undefined,
  { path, errors }: { readonly path: FieldPath; readonly errors: FieldErrors },
): void {
  if (container === undefined) {
    const why = "must match the name of an entry in spec.initContainers.name or spec.containers.name";
    errors.invalid(path.child("containerName"), containerName, why);
  } else if (ownValue(container.resources.requests, resourceName) === undefined) {
    const why =
      "must match the extended resource name of an entry in spec.initContainers.resources.requests or spec.containers.resources.requests";
    errors.invalid(path.child("resourceName"), resourceName, why);
  }
}

type Ips = readonly { readonly ip: string }[];

/** Path of the addresses, and the addresses of the stored status. */
interface IpPlace {
  readonly path: FieldPath;
  readonly before: Ips;
}

/** At most one address of each family. Stored addresses stay valid. */
function checkIps(ips: Ips, { path, before }: IpPlace, errors: FieldErrors): void {
  const known = new Set(before.map(({ ip }) => ip));
  for (const [i, { ip }] of ips.entries()) {
    if (known.has(ip)) continue;
    errors.invalidFor(path.index(i), ip, legacyIpAddress(ip));
  }
  if (ips.length < 2) return;
  const families = new Set(ips.map(({ ip }) => findIpAddress(ip)?.family));
  if (families.size !== 2 || ips.length > 2) {
    errors.invalid(path, ips, "may specify no more than one IP for each IP family");
  }
}

function checkHostIps({ hostIP, hostIPs = [] }: PodStatus, place: IpPlace, errors: FieldErrors): void {
  const [first] = hostIPs;
  if (first !== undefined && first.ip !== (hostIP ?? "")) {
    errors.invalid(place.path.index(0).child("ip"), first.ip, "must be equal to `hostIP`");
  }
  checkIps(hostIPs, place, errors);
}
