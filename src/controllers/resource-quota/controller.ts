/**
 * Keeps in the status of each ResourceQuota what it bounds and how much of that is used.
 *
 * The server itself charges a quota for what it lets in, and gives back what is deleted. This loop begins a quota, follows changes of what
 * it bounds, and looks from time to time for what nobody could see happen. It reads ResourceQuotas, Pods, Services, PersistentVolumeClaims,
 * ResourceClaims, DeviceClasses and the number of objects of whatever is counted; it writes ResourceQuota status.
 *
 * What is written was read after the quota: whoever is let in meanwhile changes the quota, and the write is refused. Only a quota that is
 * not begun is not changed so, and is counted once more after it is.
 */
import type { ApiObject, ObjectKey, ResourceType } from "../../api/api-object.ts";
import { PersistentVolumeClaim, Pod, ResourceQuota, Service } from "../../api/generated/types/core-v1.ts";
import { DeviceClass, ResourceClaim } from "../../api/generated/types/resource-v1.ts";
import { jsonEqual } from "../../api/patch/json-equal.ts";
import { isTerminal } from "../../resources/pod/pod-state.ts";
import type { CountedResource, UsageFacts } from "../../resources/quota/usage.ts";
import type { ObjectChange } from "../../runtime/cache/object-change.ts";
import { defineController, watching } from "../../runtime/controller/controller.ts";
import type { CacheReader, Outcome, ReconcileContext } from "../../runtime/controller/controller.ts";
import { countObjects } from "./count.ts";
import { countedResources, isBegun, shareOf, shareOfCount, statusOf } from "./plan-usage.ts";
import type { QuotaStatus, Share } from "./plan-usage.ts";

/** As upstream's. */
const RESYNC_MS = 300_000;

/** What is in memory anyway, by plural and group. */
const CACHED: ReadonlyMap<string, ResourceType> = new Map<string, ResourceType>([
  ["persistentvolumeclaims.", PersistentVolumeClaim],
  ["pods.", Pod],
  ["services.", Service],
  ["resourceclaims.resource.k8s.io", ResourceClaim],
]);

export const resourceQuotaController = defineController({
  name: "resourcequota-controller",
  for: ResourceQuota,
  // What the server charges is no reason to look.
  when: ({ before, after }) =>
    before === undefined || after === undefined || before.spec !== after.spec || !isBegun(after),
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
  const seen = findStatus(quota, context);
  if (seen !== undefined && jsonEqual(seen, quota.status)) return;
  const counted = await recount(quota, context);
  // Whoever was let in between was charged to nobody: a quota bounds nothing before its status says so.
  if (counted !== undefined && !isBegun(counted)) await recount(quota, context);
}

/** The quota as it was before what it bounds was counted and written; undefined when it is gone. */
async function recount(quota: ResourceQuota, context: ReconcileContext): Promise<ResourceQuota | undefined> {
  const current = await context.client(ResourceQuota).find(quota);
  if (current === undefined || current.metadata.uid !== quota.metadata.uid) return undefined;
  const shares = await Promise.all(
    countedResources(current).map((resource) => readShare(current, resource, context)),
  );
  const status = statusOf(current, shares);
  // Not by `updateStatus`, for which a status that is what it was has not been written: here one may have gone and another come.
  if (!jsonEqual(status, current.status)) await context.client(ResourceQuota).updateStatus(current, status);
  return current;
}

/** From memory; undefined when it counts something that is not there. It may be behind: it only says whether to look. */
function findStatus(quota: ResourceQuota, context: ReconcileContext): QuotaStatus | undefined {
  const { namespace = "" } = quota.metadata;
  const { cache } = context;
  const facts = factsOf(context);
  const shares: Share[] = [];
  for (const resource of countedResources(quota)) {
    const type = cachedType(resource);
    if (type === undefined) return undefined;
    shares.push(shareOf(cache(type).list({ namespace }), { quota, resource, facts }));
  }
  return statusOf(quota, shares);
}

async function readShare(
  quota: ResourceQuota,
  resource: CountedResource,
  context: ReconcileContext,
): Promise<Share> {
  const { client } = context;
  const { namespace = "" } = quota.metadata;
  const counting = { quota, resource, facts: factsOf(context) };
  const type = cachedType(resource);
  if (type === undefined) return shareOfCount(await countObjects(client, resource, namespace), counting);
  const objects: ApiObject[] = [];
  for await (const page of client(type).pages({ namespace })) objects.push(...page.items);
  return shareOf(objects, counting);
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
