/** Charges a change of an object to a quota: returns the new usage, or the reason to refuse the change. */
import type { Pod, ResourceQuota } from "../../api/generated/types/core-v1.ts";
import {
  addQuantities,
  compareQuantities,
  formatQuantity,
  parseQuantity,
  subtractQuantities,
  type Quantity,
} from "../../api/values/quantity.ts";
import type { ApiObject } from "../rules/kind-rules.ts";
import type { ResourceList } from "../rules/resource-amount.ts";
import { missingAmounts } from "./pod-usage.ts";
import { quotaCovers } from "./scope.ts";
import { type CountedResource, type Usage, type UsageFacts, usageOf } from "./usage.ts";

/** `previous` is undefined for a create, `next` for a delete. */
interface QuotaChange {
  readonly previous: ApiObject | undefined;
  readonly next: ApiObject | undefined;
  readonly resource: CountedResource;
  readonly facts: UsageFacts;
}

type Charge =
  | { readonly outcome: "unchanged" }
  | { readonly outcome: "used"; readonly used: ResourceList }
  /** Text equal to upstream's. */
  | { readonly outcome: "refused"; readonly why: string };

const ZERO = parseQuantity("0");
const UNCHANGED: Charge = { outcome: "unchanged" };

/** Charges only resources that the quota's status bounds. */
export function chargeQuota(quota: ResourceQuota, change: QuotaChange): Charge {
  const { hard = {}, used = {} } = quota.status;
  const after = coveredUsage(quota, change.next, change);
  const before = coveredUsage(quota, change.previous, change);
  const demand = demandOf(quota, change);
  if (demand !== undefined) return { outcome: "refused", why: demand };
  const delta = differenceOf(after, before, Object.keys(hard));
  if (delta.size === 0) return UNCHANGED;
  const unknown = [...delta.keys()].filter((name) => isMore(delta.get(name)) && used[name] === undefined);
  if (unknown.length > 0) {
    const names = unknown.toSorted().join(",");
    return {
      outcome: "refused",
      why: `status unknown for quota: ${quota.metadata.name}, resources: ${names}`,
    };
  }
  const sums = sumsOf(used, delta);
  const exceeded = [...sums.keys()].filter(
    (name) => isMore(delta.get(name)) && isAbove(sums.get(name), hard[name]),
  );
  if (exceeded.length > 0) return { outcome: "refused", why: excess(quota, delta, exceeded.toSorted()) };
  return sums.size === 0 ? UNCHANGED : { outcome: "used", used: { ...used, ...texts(sums) } };
}

const NOTHING: Usage = new Map();

function coveredUsage(
  quota: ResourceQuota,
  object: ApiObject | undefined,
  { resource, facts }: QuotaChange,
): Usage {
  if (object === undefined || !quotaCovers(quota, object, resource)) return NOTHING;
  return usageOf(object, resource, facts);
}

/** A quota of cpu or memory requires every container of a new pod to set them. */
function demandOf(quota: ResourceQuota, { previous, next, resource }: QuotaChange): string | undefined {
  if (previous !== undefined || next === undefined || resource.group !== "" || resource.name !== "pods")
    return undefined;
  if (!quotaCovers(quota, next, resource)) return undefined;
  const missing = missingAmounts(next as Pod, Object.keys(quota.status.hard ?? {}));
  return missing === undefined ? undefined : `failed quota: ${quota.metadata.name}: ${missing}`;
}

function differenceOf(after: Usage, before: Usage, names: readonly string[]): Map<string, Quantity> {
  const delta = new Map<string, Quantity>();
  for (const name of names) {
    const difference = subtractQuantities(after.get(name) ?? ZERO, before.get(name) ?? ZERO);
    if (difference.nano !== 0n) delta.set(name, difference);
  }
  return delta;
}

/** Skips resources that the quota controller has not counted yet. Usage never becomes negative. */
function sumsOf(used: ResourceList, delta: Usage): Map<string, Quantity> {
  const sums = new Map<string, Quantity>();
  for (const [name, difference] of delta) {
    const text = used[name];
    if (text === undefined) continue;
    const sum = addQuantities(parseQuantity(text), difference);
    sums.set(name, sum.nano < 0n ? { ...sum, nano: 0n } : sum);
  }
  return sums;
}

function isMore(quantity: Quantity | undefined): boolean {
  return quantity !== undefined && quantity.nano > 0n;
}

function isAbove(sum: Quantity | undefined, bound: string | undefined): boolean {
  return sum !== undefined && bound !== undefined && compareQuantities(sum, parseQuantity(bound)) > 0;
}

function excess({ metadata, status }: ResourceQuota, delta: Usage, names: readonly string[]): string {
  const requested = texts(delta);
  const list = (amounts: ResourceList): string =>
    names.map((name) => `${name}=${amounts[name] ?? "0"}`).join(",");
  const used = list(status.used ?? {});
  return `exceeded quota: ${metadata.name}, requested: ${list(requested)}, used: ${used}, limited: ${list(status.hard ?? {})}`;
}

function texts(usage: Usage): ResourceList {
  return Object.fromEntries([...usage].map(([name, quantity]) => [name, formatQuantity(quantity)]));
}
