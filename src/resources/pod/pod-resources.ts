/** Sums the resources of a pod's containers, and derives the QoS class. */

import type { Container, PodSpec } from "../../api/generated/types/core-v1.ts";
import {
  addQuantities,
  compareQuantities,
  formatQuantity,
  parseQuantity,
  type Quantity,
} from "../../api/values/quantity.ts";
import type { ResourceList } from "../rules/resource-amount.ts";

export type QosClass = "BestEffort" | "Burstable" | "Guaranteed";

/** Resources that determine the QoS class. */
const QOS_RESOURCES = ["cpu", "memory"];

/**
 * Maximum of the requests at any time: a sidecar runs beside all later containers; other init containers run
 * alone, before the rest.
 */
export function aggregateRequests(spec: PodSpec): ResourceList {
  return aggregate(spec, "requests");
}

/** The same for limits. */
export function aggregateLimits(spec: PodSpec): ResourceList {
  return aggregate(spec, "limits");
}

function aggregate(spec: PodSpec, field: "requests" | "limits"): ResourceList {
  const running = new Map<string, Quantity>();
  const initial = new Map<string, Quantity>();
  for (const container of spec.containers) addAll(running, container.resources[field]);
  const sidecars = new Map<string, Quantity>();
  for (const container of spec.initContainers ?? []) {
    if (isSidecar(container)) {
      addAll(running, container.resources[field]);
      addAll(sidecars, container.resources[field]);
      raiseAll(initial, sidecars);
    } else {
      const together = new Map(sidecars);
      addAll(together, container.resources[field]);
      raiseAll(initial, together);
    }
  }
  raiseAll(running, initial);
  return Object.fromEntries([...running].map(([name, quantity]) => [name, formatQuantity(quantity)]));
}

/** A sidecar: an init container that keeps running beside the others. */
export function isSidecar({ restartPolicy }: Pick<Container, "restartPolicy">): boolean {
  return restartPolicy === "Always";
}

export function qosClass(spec: PodSpec): QosClass {
  const all =
    spec.resources?.requests !== undefined || spec.resources?.limits !== undefined
      ? [{ resources: spec.resources }]
      : [...spec.containers, ...(spec.initContainers ?? [])];
  const amounts = all.map(({ resources }) => ({
    requests: positive(resources.requests),
    limits: positive(resources.limits),
  }));
  if (amounts.every(({ requests, limits }) => requests.size + limits.size === 0)) return "BestEffort";
  const isGuaranteed = amounts.every(({ requests, limits }) =>
    QOS_RESOURCES.every((name) => isEqualAmount(requests.get(name), limits.get(name))),
  );
  return isGuaranteed ? "Guaranteed" : "Burstable";
}

function positive(list: ResourceList | undefined): Map<string, Quantity> {
  const found = new Map<string, Quantity>();
  for (const name of QOS_RESOURCES) {
    const text = list?.[name];
    const quantity = text === undefined ? undefined : parseQuantity(text);
    if (quantity !== undefined && quantity.nano > 0n) found.set(name, quantity);
  }
  return found;
}

function isEqualAmount(request: Quantity | undefined, limit: Quantity | undefined): boolean {
  return request !== undefined && limit !== undefined && compareQuantities(request, limit) === 0;
}

function addAll(sum: Map<string, Quantity>, list: ResourceList | undefined): void {
  for (const [name, text] of Object.entries(list ?? {})) {
    const before = sum.get(name);
    const quantity = parseQuantity(text);
    sum.set(name, before === undefined ? quantity : addQuantities(before, quantity));
  }
}

function raiseAll(most: Map<string, Quantity>, to: ReadonlyMap<string, Quantity>): void {
  for (const [name, quantity] of to) {
    const before = most.get(name);
    if (before === undefined || compareQuantities(quantity, before) > 0) most.set(name, quantity);
  }
}
