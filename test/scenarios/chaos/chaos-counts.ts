/** Counted and limited resources at every revision: quotas, budgets, runs of CronJobs, volumes, sizes. Pure functions over a history. */
import type { ApiObject } from "../../../src/api/api-object.ts";
import type { HorizontalPodAutoscaler } from "../../../src/api/generated/types/autoscaling-v2.ts";
import type { CronJob, Job } from "../../../src/api/generated/types/batch-v1.ts";
import type {
  PersistentVolume,
  PersistentVolumeClaim,
  Pod,
  ResourceQuota,
} from "../../../src/api/generated/types/core-v1.ts";
import type { PodDisruptionBudget } from "../../../src/api/generated/types/policy-v1.ts";
import { isTerminal } from "../../../src/resources/pod/pod-state.ts";
import type { Change } from "./chaos-history.ts";
import { controllerOf, requestsOf } from "./chaos-invariants.ts";
import { hasEnded, JobTally } from "./chaos-job-tally.ts";
import { milli } from "./chaos-quantities.ts";

export function brokenCounts(changes: readonly Change[]): readonly string[] {
  const live = new Live();
  const tally = new JobTally();
  const found: string[] = [];
  for (const change of changes) {
    live.take(change);
    tally.take(change);
    const wrong = [
      ...exceededQuotas(change, live),
      ...overdrawnBudget(change),
      ...rivalRuns(change, live),
      ...sharedVolumes(change, live),
      ...boundlessSize(change),
      ...tally.wrongAfter(change),
    ];
    for (const what of wrong) found.push(`${change.key} ${what} (revision ${String(change.revision)})`);
  }
  return found;
}

/** All objects as of the last applied change. */
class Live {
  readonly #byKind = new Map<string, Map<string, ApiObject>>();
  /** Uncounted objects by quota: created while the quota existed. */
  readonly #uncounted = new Map<string, Set<string>>();

  /** Whether the object is older than the first count of the quota, which may have missed it. */
  cameBeforeCount({ metadata: { uid } }: ResourceQuota, object: ApiObject): boolean {
    return this.#uncounted.get(uid)?.has(object.metadata.uid ?? "") === true;
  }

  #noteUncounted({ before, after }: Change): void {
    if (before !== undefined || after === undefined) return;
    const { uid = "", namespace } = after.metadata;
    for (const quota of this.of<ResourceQuota>("ResourceQuota", namespace)) {
      if (quota.status.hard !== undefined) continue;
      const known = this.#uncounted.get(quota.metadata.uid ?? "") ?? new Set();
      this.#uncounted.set(quota.metadata.uid ?? "", known.add(uid));
    }
  }

  take(change: Change): void {
    const { kind, key, after } = change;
    this.#noteUncounted(change);
    const same = this.#byKind.get(kind) ?? new Map<string, ApiObject>();
    this.#byKind.set(kind, same);
    if (after === undefined) same.delete(key);
    else same.set(key, after);
  }

  of<T extends ApiObject>(kind: string, namespace?: string): readonly T[] {
    const all = [...(this.#byKind.get(kind)?.values() ?? [])] as readonly ApiObject[] as readonly T[];
    return namespace === undefined ? all : all.filter(({ metadata }) => metadata.namespace === namespace);
  }
}

/**
 * Admission accepts nothing that exceeds a quota. As upstream, a quota without a status limits nothing, and objects older than its first
 * count may be missing in it until it is counted again.
 */
function exceededQuotas({ kind, before, after }: Change, live: Live): readonly string[] {
  if (before !== undefined || after === undefined || (kind !== "Pod" && kind !== "Service")) return [];
  const { namespace } = after.metadata;
  const names = kind === "Pod" ? ["pods", "requests.cpu"] : ["services"];
  return live.of<ResourceQuota>("ResourceQuota", namespace).flatMap((quota) => {
    const used = usedOf(quota, namespace, live);
    const { hard } = quota.status;
    return names
      .filter((name) => (used[name] ?? 0) > milli(hard?.[name] ?? "1000000"))
      .map((name) => `exceeds ${name} of ${quota.metadata.name}: ${String(used[name])}`);
  });
}

function usedOf(
  quota: ResourceQuota,
  namespace: string | undefined,
  live: Live,
): Readonly<Record<string, number>> {
  const isCounted = (object: ApiObject): boolean => !live.cameBeforeCount(quota, object);
  const pods = live
    .of<Pod>("Pod", namespace)
    .filter((pod) => !isTerminal(pod) && !isGoing(pod) && isCounted(pod));
  return {
    pods: pods.length * 1000,
    "requests.cpu": requestsOf(pods).cpu,
    services: live.of("Service", namespace).filter(isCounted).length * 1000,
  };
}

function isGoing({ metadata }: ApiObject): boolean {
  return metadata.deletionTimestamp !== undefined;
}

/** A pod is evicted only if its budget allows a disruption and its status is current. */
function overdrawnBudget({ kind, before, after }: Change): readonly string[] {
  if (kind !== "PodDisruptionBudget" || after === undefined) return [];
  const { status } = after as PodDisruptionBudget;
  if (status.disruptionsAllowed < 0) return ["allows fewer than none"];
  if (before === undefined) return [];
  const was = before as PodDisruptionBudget;
  const known = Object.keys(was.status.disruptedPods ?? {});
  const added = Object.keys(status.disruptedPods ?? {}).filter((name) => !known.includes(name));
  if (added.length === 0) return [];
  const hadSome = was.status.disruptionsAllowed >= added.length;
  const isSeen = (was.status.observedGeneration ?? 0) >= (was.metadata.generation ?? 0);
  return hadSome && isSeen ? [] : [`lets ${added.join()} go without having one to spare`];
}

function rivalRuns({ kind, before, after }: Change, live: Live): readonly string[] {
  if (kind !== "Job" || before !== undefined || after === undefined) return [];
  const { namespace, uid } = after.metadata;
  const owner = controllerOf(after);
  const cron = live.of<CronJob>("CronJob", namespace).find((each) => each.metadata.uid === owner);
  if (cron === undefined || cron.spec.concurrencyPolicy === "Allow") return [];
  return live
    .of<Job>("Job", namespace)
    .filter(
      (job) => job.metadata.uid !== uid && controllerOf(job) === owner && !isGoing(job) && !hasEnded(job),
    )
    .map((job) => `runs beside ${job.metadata.name}, ${cron.spec.concurrencyPolicy ?? ""}`);
}

function sharedVolumes({ kind, key, before, after }: Change, live: Live): readonly string[] {
  if (after === undefined) return [];
  if (kind === "PersistentVolumeClaim") {
    const { spec } = after as PersistentVolumeClaim;
    const was = (before as PersistentVolumeClaim | undefined)?.spec.volumeName;
    if (was !== undefined && was !== spec.volumeName) return ["has another volume"];
    if (spec.volumeName === undefined || was !== undefined) return [];
    return live
      .of<PersistentVolumeClaim>(kind)
      .filter(
        (other) => other.metadata.uid !== after.metadata.uid && other.spec.volumeName === spec.volumeName,
      )
      .map((other) => `has the volume of ${other.metadata.name}`);
  }
  if (kind !== "PersistentVolume") return [];
  const { status, spec } = after as PersistentVolume;
  const uid = spec.claimRef?.uid;
  if (status.phase !== "Bound" || uid === undefined) return [];
  return live
    .of<PersistentVolume>(kind)
    .filter(
      (other) =>
        !key.endsWith(`/${other.metadata.name}`) &&
        other.status.phase === "Bound" &&
        other.spec.claimRef?.uid === uid,
    )
    .map((other) => `is bound to the claim of ${other.metadata.name}`);
}

function boundlessSize({ kind, before, after }: Change): readonly string[] {
  if (kind !== "HorizontalPodAutoscaler" || after === undefined) return [];
  const { status, spec } = after as HorizontalPodAutoscaler;
  const { desiredReplicas } = status;
  const was = (before as HorizontalPodAutoscaler | undefined)?.status.desiredReplicas;
  if (desiredReplicas === 0 || desiredReplicas === was) return [];
  const isWithin = desiredReplicas >= (spec.minReplicas ?? 1) && desiredReplicas <= spec.maxReplicas;
  return isWithin ? [] : [`wants ${String(desiredReplicas)}`];
}
