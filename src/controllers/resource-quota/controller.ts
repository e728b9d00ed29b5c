/**
 * Keeps bounds and usage in the status of each ResourceQuota.
 *
 * The server itself charges creations and refunds deletions. This controller initializes quotas, follows changes of their spec, and resyncs
 * for missed changes. It reads quotas and all counted objects; it writes ResourceQuota status.
 *
 * Objects are read after the quota: a concurrent charge changes the quota, and the write fails. An uninitialized quota is not charged, so
 * it is counted once more after its initialization.
 */
import type { ApiObject, ObjectKey, ResourceType } from "../../api/api-object.ts";
import { PersistentVolumeClaim, Pod, ResourceQuota, Service } from "../../api/generated/types/core-v1.ts";
import { DeviceClass, ResourceClaim } from "../../api/generated/types/resource-v1.ts";
import { jsonEqual } from "../../api/patch/json-equal.ts";
import type { YieldingWork } from "../../base/loop/yielding-work.ts";
import { isTerminal } from "../../resources/pod/pod-state.ts";
import type { CountedResource, UsageFacts } from "../../resources/quota/usage.ts";
import type { ObjectChange } from "../../runtime/cache/object-change.ts";
import { defineController, watching } from "../../runtime/controller/controller.ts";
import type { CacheReader, Outcome, ReconcileContext } from "../../runtime/controller/controller.ts";
import { countObjects } from "./count.ts";
import { countedResources, isInitialized, usageOfObjects, usageOfCount, statusOf } from "./plan-usage.ts";
import type { QuotaStatus, ResourceUsage } from "./plan-usage.ts";

/** Upstream's default. */
const RESYNC_MS = 300_000;

/** Counted resources with a cache, by plural and group. */
const CACHED: ReadonlyMap<string, ResourceType> = new Map<string, ResourceType>([
  ["persistentvolumeclaims.", PersistentVolumeClaim],
  ["pods.", Pod],
  ["services.", Service],
  ["resourceclaims.resource.k8s.io", ResourceClaim],
]);

export const resourceQuotaController = defineController({
  name: "resourcequota-controller",
  for: ResourceQuota,
  // Charges by the server start no reconcile.
  when: ({ before, after }) =>
    before === undefined || after === undefined || before.spec !== after.spec || !isInitialized(after),
  watches: [
    watching(Pod, (change, cache) =>
      change.after === undefined || isTerminal(change.after) ? quotasAround(change, cache) : [],
    ),
    watching(Service, (change, cache) => (change.after === undefined ? quotasAround(change, cache) : [])),
    watching(PersistentVolumeClaim, (change, cache) =>
      change.after === undefined ? quotasAround(change, cache) : [],
    ),
    watching(ResourceClaim, (change, cache) =>
      change.after === undefined ? quotasAround(change, cache) : [],
    ),
  ],
  reads: [DeviceClass],
  resyncMs: RESYNC_MS,
  reconcile,
});

async function reconcile(quota: ResourceQuota, context: ReconcileContext): Promise<Outcome> {
  const seen = await context.inTurns(findStatus(quota, context));
  if (seen !== undefined && jsonEqual(seen, quota.status)) return;
  const counted = await recount(quota, context);
  // Objects created before the status existed were not charged: count them now.
  if (counted !== undefined && !isInitialized(counted)) await recount(quota, context);
}

/** Counts and writes usage. Returns the quota as it was before, or undefined if it is gone. */
async function recount(quota: ResourceQuota, context: ReconcileContext): Promise<ResourceQuota | undefined> {
  const current = await context.client(ResourceQuota).find(quota);
  if (current === undefined || current.metadata.uid !== quota.metadata.uid) return undefined;
  const shares = await Promise.all(
    countedResources(current).map((resource) => readShare(current, resource, context)),
  );
  const status = statusOf(current, shares);
  // Not `context.updateStatus`, which skips an equal status: objects may have been replaced while the count stayed.
  if (!jsonEqual(status, current.status)) await context.client(ResourceQuota).updateStatus(current, status);
  return current;
}

/** Status computed from caches; undefined if a counted resource has none. It may lag, so it only decides if a recount is needed. */
function* findStatus(quota: ResourceQuota, context: ReconcileContext): YieldingWork<QuotaStatus | undefined> {
  const { namespace = "" } = quota.metadata;
  const { cache } = context;
  const facts = factsOf(context);
  const shares: ResourceUsage[] = [];
  for (const resource of countedResources(quota)) {
    const type = cachedType(resource);
    if (type === undefined) return undefined;
    shares.push(yield* usageOfObjects(cache(type).walk(namespace), { quota, resource, facts }));
  }
  return statusOf(quota, shares);
}

async function readShare(
  quota: ResourceQuota,
  resource: CountedResource,
  context: ReconcileContext,
): Promise<ResourceUsage> {
  const { client } = context;
  const { namespace = "" } = quota.metadata;
  const counting = { quota, resource, facts: factsOf(context) };
  const type = cachedType(resource);
  if (type === undefined) return usageOfCount(await countObjects(client, resource, namespace), counting);
  const objects: ApiObject[] = [];
  for await (const page of client(type).pages({ namespace })) objects.push(...page.items);
  return await context.inTurns(usageOfObjects(objects, counting));
}

function cachedType({ group, name }: CountedResource): ResourceType | undefined {
  return CACHED.get(`${name}.${group}`);
}

function factsOf({ cache, clock }: ReconcileContext): UsageFacts {
  return {
    now: clock.now(),
    findPod: (namespace, name) => cache(Pod).find({ namespace, name }),
    findClass: (name) => cache(DeviceClass).find({ name }),
  };
}

function quotasAround({ before, after }: ObjectChange<ApiObject>, cache: CacheReader): readonly ObjectKey[] {
  const { namespace = "" } = (after ?? before)?.metadata ?? {};
  return cache(ResourceQuota)
    .list({ namespace })
    .map(({ metadata }) => ({ namespace, name: metadata.name }));
}
