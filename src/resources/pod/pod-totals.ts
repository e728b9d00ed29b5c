/** Exact requests and limits of a whole pod as texts, for limit ranges and quotas. */
import type { Container, PodSpec } from "../../api/generated/types/core-v1.ts";
import {
  addQuantities,
  compareQuantities,
  formatQuantity,
  parseQuantity,
  type Quantity,
} from "../../api/values/quantity.ts";
import type { ResourceList } from "../rules/resource-amount.ts";
import { isSidecar } from "./pod-resources.ts";

interface PodTotals {
  readonly requests: ResourceList;
  readonly limits: ResourceList;
}

type Sums = Map<string, Quantity>;
type Field = "requests" | "limits";

/** Resources that a pod may set as a whole; then its containers' values do not count. */
const POD_LEVEL = /^(?:cpu|memory|hugepages-.*)$/;

/**
 * Maximum at any time: a sidecar runs beside all later containers; other init containers run alone, before
 * the rest.
 */
export function podTotals(spec: PodSpec): PodTotals {
  return { requests: total(spec, "requests"), limits: total(spec, "limits") };
}

/** Adds the runtime's overhead. An absent limit stays absent. */
export function podTotalsWithOverhead(spec: PodSpec): PodTotals {
  const { requests, limits } = podTotals(spec);
  const { overhead } = spec;
  if (overhead === undefined) return { requests, limits };
  const bounded = Object.fromEntries(Object.entries(overhead).filter(([name]) => limits[name] !== undefined));
  return { requests: joined(requests, overhead), limits: joined(limits, bounded) };
}

function total(spec: PodSpec, field: Field): ResourceList {
  const sums = containerSums(spec, field);
  for (const [name, text] of Object.entries(spec.resources?.[field] ?? {})) {
    if (POD_LEVEL.test(name)) sums.set(name, parseQuantity(text));
  }
  return texts(sums);
}

function containerSums({ containers, initContainers = [] }: PodSpec, field: Field): Sums {
  const running: Sums = new Map();
  const starting: Sums = new Map();
  const sidecars: Sums = new Map();
  const listOf = ({ resources }: Container): ResourceList => resources[field] ?? {};
  for (const container of containers) addAll(running, listOf(container));
  for (const container of initContainers) {
    if (isSidecar(container)) {
      addAll(running, listOf(container));
      addAll(sidecars, listOf(container));
      raiseAll(starting, sidecars);
    } else {
      const together: Sums = new Map(sidecars);
      addAll(together, listOf(container));
      raiseAll(starting, together);
    }
  }
  raiseAll(running, starting);
  return running;
}

function joined(left: ResourceList, right: ResourceList): ResourceList {
  const sums: Sums = new Map();
  addAll(sums, left);
  addAll(sums, right);
  return texts(sums);
}

function texts(sums: Sums): ResourceList {
  return Object.fromEntries([...sums].map(([name, quantity]) => [name, formatQuantity(quantity)]));
}

function addAll(sums: Sums, list: ResourceList): void {
  for (const [name, text] of Object.entries(list)) {
    const before = sums.get(name);
    const quantity = parseQuantity(text);
    sums.set(name, before === undefined ? quantity : addQuantities(before, quantity));
  }
}

function raiseAll(most: Sums, to: ReadonlyMap<string, Quantity>): void {
  for (const [name, quantity] of to) {
    const before = most.get(name);
    if (before === undefined || compareQuantities(quantity, before) > 0) most.set(name, quantity);
  }
}
