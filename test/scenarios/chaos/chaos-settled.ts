/** Claims about an idle cluster without obstacles: pure functions over its objects; each returns the violations. */
import type { ApiObject } from "../../../src/api/api-object.ts";
import type {
  DaemonSet,
  Deployment,
  ReplicaSet,
  StatefulSet,
} from "../../../src/api/generated/types/apps-v1.ts";
import type { HorizontalPodAutoscaler } from "../../../src/api/generated/types/autoscaling-v2.ts";
import type { CronJob, Job } from "../../../src/api/generated/types/batch-v1.ts";
import type {
  Node,
  PersistentVolume,
  PersistentVolumeClaim,
  Pod,
  ResourceQuota,
  Service,
} from "../../../src/api/generated/types/core-v1.ts";
import type { EndpointSlice } from "../../../src/api/generated/types/discovery-v1.ts";
import type { PodDisruptionBudget } from "../../../src/api/generated/types/policy-v1.ts";
import type { ResourceClaim } from "../../../src/api/generated/types/resource-v1.ts";
import { isActive, isReady, isTerminal } from "../../../src/resources/pod/pod-state.ts";
import { controllerOf, hasRoom, requestsOf } from "./chaos-invariants.ts";
import { milli } from "./chaos-quantities.ts";

const TRACKING = "batch.kubernetes.io/job-tracking";
const REVISION = "controller-revision-hash";

export function wrongWhenSettled(objects: readonly ApiObject[]): readonly string[] {
  const rest = new Rest(objects);
  return [
    ...rest.of<ApiObject>(...rest.kinds).flatMap((object) => told(object, lingering(object, rest))),
    ...rest.of<ReplicaSet>("ReplicaSet").flatMap((set) => told(set, replicaSet(set, rest))),
    ...rest.of<Deployment>("Deployment").flatMap((each) => told(each, deployment(each, rest))),
    ...rest.of<StatefulSet>("StatefulSet").flatMap((set) => told(set, statefulSet(set, rest))),
    ...rest.of<DaemonSet>("DaemonSet").flatMap((set) => told(set, daemonSet(set, rest))),
    ...rest.of<Job>("Job").flatMap((each) => told(each, job(each, rest))),
    ...rest.of<Pod>("Pod").flatMap((each) => told(each, pod(each, rest))),
    ...rest.of<Node>("Node").flatMap((each) => told(each, node(each, rest))),
    ...rest.of<Service>("Service").flatMap((each) => told(each, service(each, rest))),
    ...rest.of<PodDisruptionBudget>("PodDisruptionBudget").flatMap((each) => told(each, budget(each, rest))),
    ...rest.of<ResourceClaim>("ResourceClaim").flatMap((each) => told(each, claim(each, rest))),
    ...rest.of<ResourceQuota>("ResourceQuota").flatMap((each) => told(each, quota(each, rest))),
    ...rest.of<CronJob>("CronJob").flatMap((each) => told(each, cronJob(each, rest))),
    ...rest
      .of<PersistentVolumeClaim>("PersistentVolumeClaim")
      .flatMap((each) => told(each, volumeClaim(each, rest))),
    ...rest.of<PersistentVolume>("PersistentVolume").flatMap((each) => told(each, volume(each, rest))),
    ...rest
      .of<HorizontalPodAutoscaler>("HorizontalPodAutoscaler")
      .flatMap((each) => told(each, autoscaler(each, rest))),
  ];
}

function told({ kind, metadata: { namespace = "", name } }: ApiObject, found: readonly string[]): string[] {
  return found.map((what) => `${kind} ${namespace}/${name}: ${what}`);
}

class Rest {
  readonly uids: ReadonlySet<string>;
  readonly #byKind = new Map<string, ApiObject[]>();

  constructor(objects: readonly ApiObject[]) {
    this.uids = new Set(objects.map(({ metadata }) => metadata.uid ?? ""));
    for (const object of objects) {
      const same = this.#byKind.get(object.kind) ?? [];
      same.push(object);
      this.#byKind.set(object.kind, same);
    }
  }

  get kinds(): readonly string[] {
    return [...this.#byKind.keys()];
  }

  of<T extends ApiObject>(...kinds: readonly string[]): readonly T[] {
    return kinds.flatMap((kind) => (this.#byKind.get(kind) ?? []) as readonly ApiObject[] as readonly T[]);
  }

  podsOf(owner: ApiObject): readonly Pod[] {
    return this.of<Pod>("Pod").filter((each) => controllerOf(each) === owner.metadata.uid);
  }

  selected({ metadata: { namespace } }: ApiObject, labels: Readonly<Record<string, string>>): readonly Pod[] {
    return this.of<Pod>("Pod").filter(
      ({ metadata }) =>
        metadata.namespace === namespace &&
        Object.entries(labels).every(([name, value]) => metadata.labels?.[name] === value),
    );
  }
}

function unlike(what: string, found: unknown, expected: unknown): readonly string[] {
  return JSON.stringify(found) === JSON.stringify(expected)
    ? []
    : [`${what} is ${JSON.stringify(found)}, expected ${JSON.stringify(expected)}`];
}

function lingering(object: ApiObject, rest: Rest): readonly string[] {
  const { metadata } = object;
  const found: string[] = [];
  const isBound = (object as Partial<PersistentVolume>).status?.phase === "Bound";
  const isHeld =
    object.kind === "PersistentVolume"
      ? isBound
      : isInUse(object, rest.of("Pod")) || waitsForIndex(object as Pod, rest);
  if (metadata.deletionTimestamp !== undefined && !isHeld)
    found.push(`is still there, held by ${(metadata.finalizers ?? []).join()}`);
  for (const { kind, name, uid } of metadata.ownerReferences ?? [])
    if (!rest.uids.has(uid)) found.push(`has an owner that is gone, ${kind} ${name}`);
  return found;
}

/** Deleted claims stay as long as a pod uses them. */
function isInUse({ kind, metadata: { namespace, name, uid } }: ApiObject, pods: readonly Pod[]): boolean {
  const near = pods.filter((each) => each.metadata.namespace === namespace);
  if (kind === "PersistentVolumeClaim")
    return near.some(({ spec }) =>
      spec.volumes?.some((volume) => volume.persistentVolumeClaim?.claimName === name),
    );
  if (kind !== "ResourceClaim") return false;
  return near.some(({ status, spec }) => {
    const named = spec.resourceClaims?.some(({ resourceClaimName }) => resourceClaimName === name);
    const made = status.resourceClaimStatuses?.some(({ resourceClaimName }) => resourceClaimName === name);
    return uid !== "" && (named === true || made === true);
  });
}

function replicaSet(set: ReplicaSet, rest: Rest): readonly string[] {
  const active = rest.podsOf(set).filter(isActive);
  const ready = active.filter(isReady).length;
  const { status, spec, metadata } = set;
  const labels = spec.selector.matchLabels ?? {};
  const strays = rest
    .selected(set, labels)
    .filter((each) => isActive(each) && controllerOf(each) === undefined);
  return [
    ...unlike("number of pods", active.length, spec.replicas),
    ...unlike("replicas", status.replicas, active.length),
    ...unlike("readyReplicas", status.readyReplicas ?? 0, ready),
    ...unlike("availableReplicas", status.availableReplicas ?? 0, ready),
    ...unlike("observedGeneration", status.observedGeneration, metadata.generation),
    ...strays.map((each) => `has not adopted ${each.metadata.name}`),
  ];
}

function deployment(each: Deployment, rest: Rest): readonly string[] {
  const { status, spec, metadata } = each;
  const sets = rest.of<ReplicaSet>("ReplicaSet").filter((set) => controllerOf(set) === metadata.uid);
  const active = sets.flatMap((set) => rest.podsOf(set)).filter(isActive);
  const ready = active.filter(isReady).length;
  const isDone = ready === active.length && spec.paused !== true;
  return [
    ...unlike("replicas", status.replicas ?? 0, active.length),
    ...unlike("readyReplicas", status.readyReplicas ?? 0, ready),
    ...unlike("availableReplicas", status.availableReplicas ?? 0, ready),
    ...unlike("observedGeneration", status.observedGeneration, metadata.generation),
    ...(isDone ? unlike("number of pods", active.length, spec.replicas) : []),
    ...(isDone ? unlike("updatedReplicas", status.updatedReplicas ?? 0, spec.replicas) : []),
    ...(isDone
      ? unlike(
          "sets in use",
          sets.filter((set) => (set.spec.replicas ?? 0) > 0).length,
          Math.min(1, spec.replicas ?? 0),
        )
      : []),
  ];
}

function statefulSet(set: StatefulSet, rest: Rest): readonly string[] {
  const { status, spec, metadata } = set;
  const pods = rest.podsOf(set);
  const ready = pods.filter(isReady).length;
  const isDone = ready === pods.length && !isBlocked(set, rest);
  const updated = pods.filter((each) => each.metadata.labels?.[REVISION] === status.updateRevision);
  const ordinals = pods.map((each) => Number(/\d+$/.exec(each.metadata.name)?.[0])).toSorted((a, b) => a - b);
  return [
    ...unlike("replicas", status.replicas, pods.length),
    ...unlike("readyReplicas", status.readyReplicas ?? 0, ready),
    ...unlike("updatedReplicas", status.updatedReplicas ?? 0, updated.length),
    ...unlike("observedGeneration", status.observedGeneration, metadata.generation),
    ...(isDone
      ? unlike(
          "ordinals",
          ordinals,
          Array.from({ length: spec.replicas ?? 0 }, (_, at) => at),
        )
      : []),
    ...(isDone ? unlike("currentRevision", status.currentRevision, status.updateRevision) : []),
  ];
}

/** Another pod has the name of one of its pods, or a claim of one is being deleted. */
function isBlocked({ metadata, spec }: StatefulSet, rest: Rest): boolean {
  const names = Array.from({ length: spec.replicas ?? 0 }, (_, at) => `${metadata.name}-${String(at)}`);
  const near = (object: ApiObject): boolean => object.metadata.namespace === metadata.namespace;
  const foreign = rest.of<Pod>("Pod").filter((each) => near(each) && controllerOf(each) !== metadata.uid);
  const going = rest
    .of("PersistentVolumeClaim")
    .filter((each) => near(each) && each.metadata.deletionTimestamp !== undefined);
  return (
    foreign.some((each) => names.includes(each.metadata.name)) ||
    going.some((each) => names.some((name) => each.metadata.name === `data-${name}`))
  );
}

function daemonSet(set: DaemonSet, rest: Rest): readonly string[] {
  const { status, metadata } = set;
  const pods = rest.podsOf(set).filter(isActive);
  const nodes = rest.of<Node>("Node").map((each) => each.metadata.name);
  const wanted = nodes.toSorted();
  // A pod that starts before the old one ends may find no room.
  const isSurging = set.spec.updateStrategy?.rollingUpdate?.maxSurge === 1 && !pods.every(isReady);
  const all = pods.map(({ spec }) => spec.nodeName ?? targetOf(spec) ?? "").toSorted();
  const places = isSurging ? [...new Set(all)] : all;
  return [
    ...unlike("nodes of its pods", places, wanted),
    ...unlike("desiredNumberScheduled", status.desiredNumberScheduled, wanted.length),
    ...unlike("currentNumberScheduled", status.currentNumberScheduled, new Set(places).size),
    ...unlike(
      "numberReady",
      status.numberReady,
      new Set(pods.filter(isReady).map(({ spec }) => spec.nodeName)).size,
    ),
    ...unlike("observedGeneration", status.observedGeneration, metadata.generation),
  ];
}

function targetOf({ affinity }: Pod["spec"]): string | undefined {
  const terms =
    affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms ?? [];
  return terms[0]?.matchFields?.[0]?.values?.[0];
}

function job(each: Job, rest: Rest): readonly string[] {
  const { status, spec } = each;
  const pods = rest.podsOf(each);
  const active = pods.filter(isActive);
  const completions = spec.completions ?? 1;
  const { succeeded = 0, uncountedTerminatedPods = {} } = status;
  // Failed indexes are not retried, and a failed pod is kept until its index has failed.
  const isPerIndex = spec.backoffLimitPerIndex !== undefined;
  const held = pods.filter((one) => isTerminal(one) && isTracked(one));
  const wanted = isIdle(each) ? 0 : Math.min(spec.parallelism ?? 1, Math.max(0, completions - succeeded));
  return [
    ...unlike("active", status.active ?? 0, active.length),
    ...unlike("ready", status.ready ?? 0, active.filter(isReady).length),
    ...unlike("terminating", status.terminating ?? 0, 0),
    ...unlike("uncounted", uncountedTerminatedPods, {}),
    ...(isPerIndex ? [] : unlike("number of active pods", active.length, wanted)),
    ...(isPerIndex ? [] : held.map((one) => `still holds ${one.metadata.name ?? ""}`)),
    ...(hasEnded(each, "Complete") ? unlike("succeeded", succeeded, completions) : []),
  ];
}

/**
 * As upstream: the failed pod of an index holds the number of its tries, and is kept until its successor exists. A suspended Job creates
 * none.
 */
function waitsForIndex(each: Pod, rest: Rest): boolean {
  if (each.kind !== "Pod" || each.status.phase !== "Failed" || !isTracked(each)) return false;
  const owner = rest.of<Job>("Job").find(({ metadata }) => metadata.uid === controllerOf(each));
  return owner?.spec.suspend === true && owner.spec.backoffLimitPerIndex !== undefined;
}

function isTracked({ metadata }: Pod): boolean {
  return (metadata.finalizers ?? []).includes(TRACKING);
}

function isIdle(each: Job): boolean {
  return each.spec.suspend === true || hasEnded(each, "Complete") || hasEnded(each, "Failed");
}

function hasEnded({ status }: Job, how: "Complete" | "Failed"): boolean {
  return (status.conditions ?? []).some((condition) => condition.type === how && condition.status === "True");
}

function pod(each: Pod, rest: Rest): readonly string[] {
  const { spec, status, metadata } = each;
  const found: string[] = [];
  const nodes = rest.of<Node>("Node");
  const isOwnedByJob = metadata.ownerReferences?.some(({ kind }) => kind === "Job") === true;
  if (!isOwnedByJob && isTracked(each)) found.push("is tracked for no Job");
  if (isTerminal(each)) return found;
  if (spec.nodeName === undefined) {
    const others = rest.of<Pod>("Pod");
    const placed = (nodeName = ""): Pod => ({ ...each, spec: { ...spec, nodeName } });
    const fitting = isPlain(each)
      ? nodes.filter((one) => hasRoom(one, [...others, placed(one.metadata.name)]))
      : [];
    return [...found, ...fitting.map((one) => `waits, and would fit on ${one.metadata.name ?? ""}`)];
  }
  if (!nodes.some((one) => one.metadata.name === spec.nodeName)) found.push("is on a node that is gone");
  if (!isOwnedByJob && !isReady(each))
    found.push(`is on ${spec.nodeName} and not ready, ${status.phase ?? ""}`);
  return found;
}

/** Whether the pod needs nothing but room. */
function isPlain({ spec }: Pod): boolean {
  const hasClaims = spec.volumes?.some(({ persistentVolumeClaim }) => persistentVolumeClaim !== undefined);
  return spec.resourceClaims === undefined && spec.affinity === undefined && hasClaims !== true;
}

function node({ spec, status, metadata }: Node, rest: Rest): readonly string[] {
  const others = rest.of<Node>("Node").filter((each) => each.metadata.name !== metadata.name);
  const ready = (status.conditions ?? []).find(({ type }) => type === "Ready")?.status;
  return [
    ...unlike("Ready", ready, "True"),
    ...unlike("taints", spec.taints ?? [], []),
    ...others
      .filter((each) => each.spec.podCIDR === spec.podCIDR)
      .map((each) => `has the addresses of ${each.metadata.name}`),
  ];
}

function service(each: Service, rest: Rest): readonly string[] {
  const { spec, metadata } = each;
  if (spec.selector === undefined) return [];
  const slices = rest
    .of<EndpointSlice>("EndpointSlice")
    .filter(
      (slice) =>
        slice.metadata.namespace === metadata.namespace &&
        slice.metadata.labels?.["kubernetes.io/service-name"] === metadata.name,
    );
  const pods = rest
    .selected(each, spec.selector)
    .filter((one) => isActive(one) && one.status.podIP !== undefined);
  const shown = slices.flatMap(({ endpoints }) =>
    (endpoints ?? []).map(({ addresses, conditions }) => `${addresses.join()} ${String(conditions?.ready)}`),
  );
  const expected = pods.map(
    (one) => `${one.status.podIP ?? ""} ${String(isReady(one) || spec.publishNotReadyAddresses === true)}`,
  );
  return unlike("endpoints", shown.toSorted(), expected.toSorted());
}

function budget(each: PodDisruptionBudget, rest: Rest): readonly string[] {
  const { spec, status, metadata } = each;
  // The expected number of some pods is unknown: then no disruption is allowed, and the rest of the status is old.
  if (status.conditions?.some(({ reason }) => reason === "SyncFailed") === true)
    return unlike("disruptionsAllowed", status.disruptionsAllowed, 0);
  const pods = rest.selected(each, spec.selector?.matchLabels ?? {}).filter((one) => !isTerminal(one));
  const healthy = pods.filter(isReady).length;
  // If no pods are expected, no disruption is allowed.
  const spare = status.expectedPods > 0 ? Math.max(0, healthy - status.desiredHealthy) : 0;
  return [
    ...unlike("currentHealthy", status.currentHealthy, healthy),
    ...unlike("disruptionsAllowed", status.disruptionsAllowed, spare),
    ...unlike("observedGeneration", status.observedGeneration, metadata.generation),
    ...unlike("disruptedPods", Object.keys(status.disruptedPods ?? {}), []),
  ];
}

function claim({ status }: ResourceClaim, rest: Rest): readonly string[] {
  const users = status.reservedFor ?? [];
  return [
    ...users
      .filter(({ uid }) => !rest.uids.has(uid))
      .map(({ name }) => `is reserved for ${name}, which is gone`),
    ...(users.length === 0 && status.allocation !== undefined ? ["has devices that nobody uses"] : []),
  ];
}

function quota({ status, metadata }: ResourceQuota, rest: Rest): readonly string[] {
  const near = (object: ApiObject): boolean => object.metadata.namespace === metadata.namespace;
  const pods = rest.of<Pod>("Pod").filter((each) => near(each) && !isTerminal(each));
  const { used = {} } = status;
  return [
    ...unlike("pods used", used["pods"], String(pods.length)),
    ...unlike("cpu used", milli(used["requests.cpu"] ?? "0"), requestsOf(pods).cpu),
    ...unlike("services used", used["services"], String(rest.of("Service").filter(near).length)),
  ];
}

/** A noted Job stays noted when a user removes its owner. */
function cronJob(each: CronJob, rest: Rest): readonly string[] {
  const jobs = rest.of<Job>("Job").filter((one) => !hasEnded(one, "Complete") && !hasEnded(one, "Failed"));
  const noted = (each.status.active ?? []).map(({ uid }) => uid);
  return [
    ...noted
      .filter((uid) => jobs.every(({ metadata }) => metadata.uid !== uid))
      .map((uid) => `notes ${uid ?? ""}, which does not run`),
    ...jobs
      .filter((one) => controllerOf(one) === each.metadata.uid && !noted.includes(one.metadata.uid))
      .map(({ metadata }) => `does not note ${metadata.name ?? ""}`),
  ];
}

function volumeClaim(each: PersistentVolumeClaim, rest: Rest): readonly string[] {
  const { spec, status, metadata } = each;
  const volumes = rest.of<PersistentVolume>("PersistentVolume");
  if (spec.volumeName === undefined) {
    const storage = spec.resources?.requests?.["storage"] ?? "";
    const fitting = volumes.filter(
      (one) =>
        one.status.phase === "Available" &&
        one.spec.claimRef === undefined &&
        one.spec.storageClassName === spec.storageClassName &&
        (one.spec.capacity?.["storage"] ?? "") >= storage,
    );
    return fitting.map((one) => `waits, and would fit ${one.metadata.name}`);
  }
  const own = volumes.find((one) => one.metadata.name === spec.volumeName);
  if (own === undefined) return unlike("phase", status.phase, "Lost");
  return [
    ...unlike("phase", status.phase, "Bound"),
    ...unlike("the claim of its volume", own.spec.claimRef?.uid, metadata.uid),
    ...unlike("the phase of its volume", own.status.phase, "Bound"),
  ];
}

function volume({ spec, status, metadata }: PersistentVolume, rest: Rest): readonly string[] {
  const { claimRef } = spec;
  if (claimRef?.uid === undefined) return unlike("phase", status.phase, "Available");
  const own = rest
    .of<PersistentVolumeClaim>("PersistentVolumeClaim")
    .find((each) => each.metadata.uid === claimRef.uid);
  if (own === undefined) return unlike("phase", status.phase, "Released");
  return unlike("the volume of its claim", own.spec.volumeName, metadata.name);
}

/** An autoscaler that is alone with its target and enabled. */
function autoscaler({ spec, metadata }: HorizontalPodAutoscaler, rest: Rest): readonly string[] {
  const target = rest
    .of<Deployment>("Deployment")
    .find(
      (each) =>
        each.metadata.namespace === metadata.namespace && each.metadata.name === spec.scaleTargetRef.name,
    );
  const { replicas = 1 } = target?.spec ?? {};
  if (target === undefined || replicas === 0) return [];
  const isWithin = replicas >= (spec.minReplicas ?? 1) && replicas <= spec.maxReplicas;
  return isWithin ? [] : [`its target has ${String(replicas)} replicas`];
}
