/** The state of an object in a few words, and whether it is as desired. Pure. */
import type { ApiObject } from "../../api/api-object.ts";
import { durationText } from "../text/duration-text.ts";
import { conditionsOf, findCondition, sinceOf } from "./conditions.ts";
import { cronJobState, jobState } from "./job-state.ts";
import { leaseState, nodeState, serviceState } from "./other-states.ts";
import type { ObjectState } from "./state.ts";

/** Status fields by which common kinds tell how far they are. */
interface Progress {
  readonly spec?: { readonly replicas?: number; readonly completions?: number; readonly paused?: boolean };
  readonly status?: {
    readonly phase?: string;
    readonly observedGeneration?: number;
    readonly replicas?: number;
    readonly readyReplicas?: number;
    readonly updatedReplicas?: number;
    readonly desiredNumberScheduled?: number;
    readonly numberReady?: number;
    readonly updatedNumberScheduled?: number;
    readonly disruptionsAllowed?: number;
    readonly startTime?: string;
  };
}

export function objectState(object: ApiObject, now: number): ObjectState {
  const { deletionTimestamp } = object.metadata;
  if (deletionTimestamp !== undefined) {
    const since = Date.parse(deletionTimestamp);
    return { text: `being deleted for ${durationText(now - since)}`, isSettled: false, since };
  }
  let found: ObjectState | undefined;
  for (const look of LOOKS) found ??= look(object, now);
  if (found === undefined) return { text: "exists", isSettled: true, since: undefined };
  const { since } = found;
  if (since === undefined || Number.isNaN(since)) return { ...found, since: undefined };
  const lasting = found.isSettled || found.isFinal === true ? " for" : ", waiting for";
  return { ...found, text: `${found.text}${lasting} ${durationText(now - since)}` };
}

/** The first that knows the kind counts. */
const LOOKS: readonly ((object: ApiObject, now: number) => ObjectState | undefined)[] = [
  podState,
  replicaState,
  jobState,
  cronJobState,
  nodeState,
  serviceState,
  leaseState,
  phaseState,
  conditionState,
];

function podState(object: ApiObject): ObjectState | undefined {
  if (object.kind !== "Pod" || object.apiVersion !== "v1") return undefined;
  const { phase = "Pending" } = (object as Progress).status ?? {};
  const ready = findCondition(object, "Ready");
  const since = sinceOf(ready);
  if (isOver(object, phase)) return { text: phase, isSettled: true, since };
  const isReady = phase === "Running" && ready?.status === "True";
  const text = phase === "Running" ? `${phase}, ${isReady ? "ready" : "not ready"}` : phase;
  return { text, isSettled: isReady, since: since ?? Date.parse(object.metadata.creationTimestamp ?? "") };
}

/** The controller of a failed pod has made another one, or has failed itself. */
function isOver(object: ApiObject, phase: string): boolean {
  return phase === "Succeeded" || (phase === "Failed" && isControlled(object));
}

function isControlled({ metadata }: ApiObject): boolean {
  return metadata.ownerReferences?.some(({ controller }) => controller === true) === true;
}

/** Numbers of pods of a workload. */
interface PodCounts {
  readonly wanted: number;
  readonly total: number;
  readonly ready: number;
  /** Undefined for a kind without rollouts. */
  readonly updated: number | undefined;
}

/** Workloads with pods: Deployment, ReplicaSet, StatefulSet, DaemonSet. */
function replicaState(object: ApiObject): ObjectState | undefined {
  const counts = podCounts(object);
  if (counts === undefined) return undefined;
  const { wanted, total, ready, updated } = counts;
  const isRolledOut = updated === undefined || updated >= wanted;
  const isSettled = isUpToDate(object) && ready === wanted && total === wanted && isRolledOut;
  // Without pods of an older template the number would only repeat the first one.
  const isMixed = !isRolledOut && total > updated;
  const rollout = isMixed ? `, ${String(updated)} on the newest template` : "";
  return {
    text: `${String(ready)} of ${String(wanted)} ready${rollout}`,
    isSettled,
    since: workloadSince(object),
  };
}

function podCounts(object: ApiObject): PodCounts | undefined {
  if (!/^apps\/|^v1$/.test(object.apiVersion)) return undefined;
  const { spec = {}, status = {} } = object as Progress;
  const { desiredNumberScheduled, numberReady = 0, updatedNumberScheduled } = status;
  if (desiredNumberScheduled !== undefined) {
    const updated = updatedNumberScheduled ?? 0;
    return { wanted: desiredNumberScheduled, total: desiredNumberScheduled, ready: numberReady, updated };
  }
  if (spec.replicas === undefined) return undefined;
  const { replicas: total = 0, readyReplicas: ready = 0, updatedReplicas = 0 } = status;
  const updated = object.kind === "Deployment" ? updatedReplicas : undefined;
  return { wanted: spec.replicas, total, ready, updated };
}

/** A Deployment says since when it lacks pods or makes progress; other workloads say nothing. */
function workloadSince(object: ApiObject): number | undefined {
  const available = findCondition(object, "Available");
  const failure = findCondition(object, "ReplicaFailure");
  return sinceOf(failure?.status === "True" ? failure : available);
}

const GOOD_PHASES = new Set(["Active", "Bound", "Available", "Running", "Succeeded", "Ready", "Complete"]);

/** Kinds with a phase: Namespace, PersistentVolumeClaim, PersistentVolume, many custom kinds. */
function phaseState(object: ApiObject): ObjectState | undefined {
  const { phase } = (object as Progress).status ?? {};
  if (typeof phase !== "string") return undefined;
  const isSettled = GOOD_PHASES.has(phase);
  const created = Date.parse(object.metadata.creationTimestamp ?? "");
  return { text: phase, isSettled, since: isSettled ? undefined : created };
}

/** Conditions that a healthy object has as True, the most telling first. */
const WANTED = [
  "Ready",
  "Available",
  "NamesAccepted",
  "Established",
  "Complete",
  "AbleToScale",
  "ScalingActive",
];

/** Kinds with conditions: CustomResourceDefinition, APIService, HorizontalPodAutoscaler, custom kinds. */
function conditionState(object: ApiObject): ObjectState | undefined {
  const conditions = conditionsOf(object);
  const wanted = WANTED.flatMap((type) => conditions.find((each) => each.type === type) ?? []);
  const failed = conditions.find(({ type, status }) => type === "Failed" && status === "True");
  const unmet = wanted.find(({ status, reason }) => status !== "True" && reason !== "ScalingDisabled");
  const telling = failed ?? unmet ?? wanted[0];
  if (telling === undefined) return undefined;
  const isSettled = failed === undefined && telling.status === "True" && isUpToDate(object);
  const reason = telling.reason === undefined || isSettled ? "" : ` (${telling.reason})`;
  return { text: `${telling.type} is ${telling.status}${reason}`, isSettled, since: sinceOf(telling) };
}

function isUpToDate(object: ApiObject): boolean {
  const { observedGeneration } = (object as Progress).status ?? {};
  const isAwaited = object.apiVersion.startsWith("apps/");
  if (observedGeneration === undefined) return !isAwaited || object.metadata.generation === undefined;
  return observedGeneration >= (object.metadata.generation ?? 0);
}
