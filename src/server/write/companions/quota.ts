/**
 * Enforces ResourceQuota. A write and the status of the quotas it counts against are one transaction: no two writers
 * use the same remainder, on any number of servers. A delete subtracts the usage in its own transaction. The
 * controller in src/controllers computes the first usage and corrects changes without a write, for example expired
 * objects.
 */
import { forbidden } from "../../../api/errors/api-error.ts";
import type { Pod, ResourceQuota } from "../../../api/generated/types/core-v1.ts";
import type { DeviceClass } from "../../../api/generated/types/resource-v1.ts";
import type { Loop } from "../../../base/loop/loop.ts";
import { chargeQuota } from "../../../resources/quota/charge.ts";
import { isMeasured, type UsageFacts } from "../../../resources/quota/usage.ts";
import type { ApiObject } from "../../../resources/rules/kind-rules.ts";
import { MAX_CHANGES } from "../../../store/store.ts";
import type { Change, Compare, Entry, Store } from "../../../store/store.ts";
import { ObjectLister, kindPrefix } from "../../objects/lister.ts";
import { encodeObject } from "../../objects/object-encoder.ts";
import type { StoredResource } from "../../objects/registry.ts";
import { StoredObject } from "../../objects/stored-object.ts";
import { NOTHING_BESIDE } from "./companion.ts";
import type { Companion, CompanionPlan, ObjectChange, PlannedWrite } from "./companion.ts";

const QUOTAS = kindPrefix<ResourceQuota>("resourcequotas");
const PODS = kindPrefix<Pod>("pods");
const CLASSES = kindPrefix<DeviceClass>("deviceclasses");

interface Parts {
  readonly store: Store;
  readonly loop: Loop;
}

interface UsageSources {
  readonly memory: ObjectLister;
  readonly loop: Loop;
}

/** Charges the quotas of the namespace. It comes last, because allocations of the others count too. */
export function quotaCompanion({ store, loop }: Parts): Companion {
  const sources: UsageSources = { loop, memory: new ObjectLister(store) };
  return { kinds: "every kind", plan: (write) => planCharges(write, sources) };
}

function planCharges(write: PlannedWrite, sources: UsageSources): CompanionPlan {
  const { change, resource, planned } = write;
  if (!resource.facts.namespaced || isSameUse(change, resource)) return NOTHING_BESIDE;
  const charges = chargesOf(write, sources);
  if (charges.length === 0) return NOTHING_BESIDE;
  if (planned + charges.length >= MAX_CHANGES) {
    // A delete is never refused. The controller corrects the usage later.
    if (change.next === undefined) return NOTHING_BESIDE;
    throw tooMany(write);
  }
  return {
    object: undefined,
    compare: charges.map(({ compare }) => compare),
    changes: charges.map(({ put }) => put),
  };
}

type Written = Pick<PlannedWrite, "change" | "resource">;

interface ChargedQuota {
  readonly compare: Compare;
  readonly put: Change;
}

function chargesOf(written: Written, sources: UsageSources): readonly ChargedQuota[] {
  const { previous, next = previous } = written.change;
  const charges: ChargedQuota[] = [];
  for (const entry of sources.memory.entries(QUOTAS, next?.metadata.namespace ?? "")) {
    const put = charge(entry, written, sources);
    if (put !== undefined) charges.push({ compare: { key: entry.key, modRevision: entry.modRevision }, put });
  }
  return charges;
}

/** The transaction contains the object too, so one change fewer is left for quotas. */
function tooMany({ change, resource: { facts } }: Written): Error {
  const { metadata } = change.next ?? change.previous ?? {};
  const why = `more than ${MAX_CHANGES - 1} quotas and allocations would have to change with it`;
  return forbidden({ group: facts.group, resource: facts.name }, metadata?.name ?? "", why);
}

/** Most writes are status reports; they do not change the usage. */
function isSameUse({ previous, next }: ObjectChange, { facts }: StoredResource): boolean {
  if (previous === undefined || next === undefined) return false;
  if (!isMeasured(facts)) return true;
  const before = previous as Measured;
  const after = next as Measured;
  return (
    before.spec === after.spec &&
    (facts.name === "pods" ? before.status?.phase === after.status?.phase : before.status === after.status) &&
    before.metadata.deletionTimestamp === after.metadata.deletionTimestamp
  );
}

interface Measured extends ApiObject {
  readonly spec?: object;
  readonly status?: { readonly phase?: string };
}

/** The quota with its usage after the change; undefined if the usage is the same. Throws if the quota is exceeded. */
function charge(entry: Entry, { change, resource }: Written, sources: UsageSources): Change | undefined {
  const quota = StoredObject.of(entry).object as ResourceQuota;
  const { previous, next } = change;
  if (isSelf(quota, previous ?? next)) return undefined;
  const { facts } = resource;
  const result = chargeQuota(quota, { previous, next, resource: facts, facts: usageFacts(sources, change) });
  switch (result.outcome) {
    case "unchanged":
      return undefined;
    case "refused": {
      const name = next?.metadata.name ?? previous?.metadata.name ?? "";
      throw forbidden({ group: facts.group, resource: facts.name }, name, result.why);
    }
    case "used": {
      const encoded = encodeObject({ ...quota, status: { ...quota.status, used: result.used } } as ApiObject);
      return { type: "put", key: entry.key, value: encoded.bytes, slot: encoded };
    }
  }
}

function usageFacts({ memory, loop }: UsageSources, { next }: ObjectChange): UsageFacts {
  return {
    isRemoval: next === undefined,
    now: loop.now(),
    findPod: (namespace, name) => memory.find(PODS, `${namespace}/${name}`),
    findClass: (name) => memory.find(CLASSES, name),
  };
}

/** A quota that counts quotas must not be written twice in one transaction. */
function isSelf(quota: ResourceQuota, object: ApiObject | undefined): boolean {
  return object?.kind === quota.kind && object.metadata.uid === quota.metadata.uid;
}
