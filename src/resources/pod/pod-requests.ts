/** Sums the requests of a pod as numbers. The scheduler, the agent and autoscalers decide by these sums. */

import type { Container, ContainerStatus, Pod } from "../../api/generated/types/core-v1.ts";
import type { ResourceList } from "../rules/resource-amount.ts";
import { isSidecar } from "./pod-resources.ts";
import { resourceNumber } from "./resource-number.ts";

/** Keyed by resource: thousandths of cores for `cpu`, whole units otherwise. */
export type ResourceNumbers = ReadonlyMap<string, number>;

/** Resources that a pod may request as a whole; then its containers' requests do not count. */
const POD_LEVEL = /^(?:cpu|memory|hugepages-.*)$/;

/**
 * Maximum of the requests at any time, plus the runtime's overhead. During a resize the larger of desired,
 * allocated and actual resources counts. `missing` holds defaults for resources that a container omits.
 */
export function podRequests(pod: Pod, missing: ResourceList = {}): ResourceNumbers {
  const sums = containerSums(pod, missing);
  for (const [name, text] of Object.entries(pod.spec.resources?.requests ?? {})) {
    if (POD_LEVEL.test(name)) sums.set(name, wholeRequest(pod, name, text));
  }
  for (const [name, text] of Object.entries(pod.spec.overhead ?? {})) {
    sums.set(name, (sums.get(name) ?? 0) + resourceNumber(name, text));
  }
  return sums;
}

function wholeRequest(pod: Pod, name: string, wanted: string): number {
  const { resources, allocatedResources } = pod.status;
  if (resources === undefined) return resourceNumber(name, wanted);
  const granted = [resources.requests?.[name] ?? "0", allocatedResources?.[name] ?? "0"];
  const counted = isResizeInfeasible(pod) ? granted : [wanted, ...granted];
  return Math.max(...counted.map((text) => resourceNumber(name, text)));
}

/**
 * Whether the requests depend on the status: the pod or a container has granted resources that differ from
 * its requests. Then a resize is, or may be, in progress.
 */
export function hasGrantedResources({ spec, status }: Pod): boolean {
  return (
    isWholeOther(status, spec.resources?.requests) ||
    (status.containerStatuses?.some((granted) => isGrantedOther(granted, spec.containers)) ?? false) ||
    (status.initContainerStatuses?.some((granted) => isGrantedOther(granted, spec.initContainers)) ?? false)
  );
}

function isWholeOther(
  { resources, allocatedResources }: Pod["status"],
  asked: ResourceList | undefined,
): boolean {
  if (resources === undefined || asked === undefined) return false;
  return !isNoOther(resources.requests, asked) || !isNoOther(allocatedResources, asked);
}

function isGrantedOther(
  { name, resources, allocatedResources }: ContainerStatus,
  containers: readonly Container[] | undefined,
): boolean {
  const inUse = resources?.requests;
  if (inUse === undefined && allocatedResources === undefined) return false;
  const asked = containers?.find((container) => container.name === name)?.resources.requests;
  return !isNoOther(inUse, asked) || !isNoOther(allocatedResources, asked);
}

/** Compares texts: equal texts are equal amounts, while different texts may be. */
function isNoOther(granted: ResourceList | undefined, asked: ResourceList | undefined): boolean {
  if (granted === undefined || granted === asked) return true;
  const names = Object.keys(granted);
  if (names.length !== Object.keys(asked ?? {}).length) return false;
  return names.every((name) => granted[name] === asked?.[name]);
}

/** The part of the status that `podRequests` reads; undefined when it reads none. */
export function grantedPart(pod: Pod): unknown {
  if (!hasGrantedResources(pod)) return undefined;
  const { containerStatuses = [], initContainerStatuses = [] } = pod.status;
  const statuses = [...containerStatuses, ...initContainerStatuses].map(
    ({ name, resources, allocatedResources }) => [name, resources?.requests, allocatedResources],
  );
  const { resources, allocatedResources } = pod.status;
  return [statuses, isResizeInfeasible(pod), resources?.requests, allocatedResources];
}

function containerSums(pod: Pod, missing: ResourceList): Map<string, number> {
  const requests = requestsOf(pod, missing);
  const running = new Map<string, number>();
  const starting = new Map<string, number>();
  const sidecars = new Map<string, number>();
  for (const container of pod.spec.containers) addAll(running, requests(container));
  for (const container of pod.spec.initContainers ?? []) {
    const own = requests(container);
    if (isSidecar(container)) {
      addAll(running, own);
      addAll(sidecars, own);
      raiseAll(starting, sidecars);
    } else {
      const together = new Map(sidecars);
      addAll(together, own);
      raiseAll(starting, together);
    }
  }
  raiseAll(running, starting);
  return running;
}

function requestsOf(pod: Pod, missing: ResourceList): (container: Container) => Map<string, number> {
  const granted = hasGrantedResources(pod) ? grantedOf(pod) : undefined;
  const isInfeasible = granted !== undefined && isResizeInfeasible(pod);
  return (container) => {
    const grants = granted?.get(container.name);
    const wanted = isInfeasible && grants !== undefined ? new Map<string, number>() : numbers(container);
    if (grants !== undefined) raiseAll(wanted, grants);
    for (const [name, text] of Object.entries(missing)) {
      if (!wanted.has(name)) wanted.set(name, resourceNumber(name, text));
    }
    return wanted;
  };
}

function numbers({ resources }: Container): Map<string, number> {
  const found = new Map<string, number>();
  for (const [name, text] of Object.entries(resources.requests ?? {})) {
    found.set(name, resourceNumber(name, text));
  }
  return found;
}

function grantedOf({ status }: Pod): ReadonlyMap<string, Map<string, number>> {
  const statuses = [...(status.containerStatuses ?? []), ...(status.initContainerStatuses ?? [])];
  return new Map(
    statuses.flatMap(({ name, resources, allocatedResources }) => {
      const granted = new Map<string, number>();
      for (const list of [resources?.requests, allocatedResources]) {
        for (const [resource, text] of Object.entries(list ?? {})) {
          granted.set(resource, Math.max(granted.get(resource) ?? 0, resourceNumber(resource, text)));
        }
      }
      return granted.size === 0 ? [] : [[name, granted]];
    }),
  );
}

/** An infeasible resize does not count. */
function isResizeInfeasible({ status }: Pod): boolean {
  return (status.conditions ?? []).some(
    ({ type, reason }) => type === "PodResizePending" && reason === "Infeasible",
  );
}

function addAll(sum: Map<string, number>, amounts: ResourceNumbers): void {
  for (const [name, amount] of amounts) sum.set(name, (sum.get(name) ?? 0) + amount);
}

function raiseAll(most: Map<string, number>, to: ResourceNumbers): void {
  for (const [name, amount] of to) most.set(name, Math.max(most.get(name) ?? 0, amount));
}
