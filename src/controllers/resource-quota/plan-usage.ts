/** Computes the status of a quota from the objects it counts. */
import type { ResourceQuota } from "../../api/generated/types/core-v1.ts";
import { addQuantities, formatQuantity, parseQuantity, type Quantity } from "../../api/values/quantity.ts";
import { inSlices } from "../../base/loop/in-slices.ts";
import type { YieldingWork } from "../../base/loop/yielding-work.ts";
import { quotaCovers } from "../../resources/quota/scope.ts";
import {
  addUsage,
  countNames,
  type CountedResource,
  resourcesBehind,
  type Usage,
  type UsageFacts,
  usageOf,
} from "../../resources/quota/usage.ts";
import type { ApiObject } from "../../resources/rules/kind-rules.ts";

export type QuotaStatus = ResourceQuota["status"];

/** Usage by the objects of one resource. */
export type ResourceUsage = ReadonlyMap<string, Quantity>;

/** Resources to count for this quota, each once. */
export function countedResources({ spec }: ResourceQuota): readonly CountedResource[] {
  const found = new Map<string, CountedResource>();
  for (const name of Object.keys(spec.hard ?? {})) {
    for (const resource of resourcesBehind(name)) found.set(`${resource.name}.${resource.group}`, resource);
  }
  return [...found.values()];
}

interface Counting {
  readonly quota: ResourceQuota;
  readonly resource: CountedResource;
  readonly facts: UsageFacts;
}

export function* usageOfObjects(
  objects: Iterable<ApiObject>,
  { quota, resource, facts }: Counting,
): YieldingWork<ResourceUsage> {
  const sum = new Map<string, Quantity>();
  yield* inSlices(objects, (object) => {
    if (quotaCovers(quota, object, resource)) addUsage(sum, knownUsage(object, resource, facts));
  });
  return sum;
}

/** Usage by objects of which only the number counts. Zero for a quota with scopes: scopes do not select these objects. */
export function usageOfCount(count: number, { quota, resource }: Counting): ResourceUsage {
  const { scopes = [], scopeSelector } = quota.spec;
  const isScoped = scopes.length > 0 || (scopeSelector?.matchExpressions ?? []).length > 0;
  const quantity = parseQuantity(String(isScoped ? 0 : count));
  return new Map(countNames(resource).map((name) => [name, quantity]));
}

export function statusOf({ spec }: ResourceQuota, shares: readonly ResourceUsage[]): QuotaStatus {
  const { hard = {} } = spec;
  const used: Record<string, string> = {};
  for (const name of Object.keys(hard)) {
    let sum: Quantity | undefined;
    for (const share of shares) {
      const quantity = share.get(name);
      sum = sum === undefined || quantity === undefined ? (sum ?? quantity) : addQuantities(sum, quantity);
    }
    used[name] = sum === undefined ? "0" : formatQuantity(sum);
  }
  return { hard, used };
}

/** The status has the spec's bounds and a usage for each. */
export function isInitialized({ spec, status }: ResourceQuota): boolean {
  const hard = Object.entries(spec.hard ?? {});
  const shown = status.hard ?? {};
  return (
    hard.length === Object.keys(shown).length &&
    hard.every(([name, bound]) => shown[name] === bound && status.used?.[name] !== undefined)
  );
}

/**
 * Cached per version of an object. Objects whose usage changes without a write are not cached: overdue terminating pods, and claims whose
 * class changes.
 */
const known = new WeakMap<ApiObject, Usage>();

function knownUsage(object: ApiObject, resource: CountedResource, facts: UsageFacts): Usage {
  const isLasting = object.metadata.deletionTimestamp === undefined && resource.group === "";
  if (!isLasting) return usageOf(object, resource, facts);
  const found = known.get(object);
  if (found !== undefined) return found;
  const usage = usageOf(object, resource, facts);
  known.set(object, usage);
  return usage;
}
