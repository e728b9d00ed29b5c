/** Builds the container statuses of a pod. */
import type {
  Container,
  ContainerState,
  ContainerStatus,
  VolumeMount,
  VolumeMountStatus,
} from "../../api/generated/types/core-v1.ts";
import { timeText } from "../../api/values/time.ts";
import { startDelayMs, type ContainerRecord, type Exit } from "./container-record.ts";
import { PULL_ERROR_SHOWN_MS } from "./plan-pod.ts";
import { hasEndedForGood, isContainerReady, isStarted, recordOf, type PodFacts } from "./pod-facts.ts";
import type { RoleContainer } from "./restart-policy.ts";

export interface StatusMoment {
  readonly now: number;
  /** The runtime has no run of the pod, and none will follow. */
  readonly hasEnded: boolean;
}

export function containerStatus(facts: PodFacts, each: RoleContainer, moment: StatusMoment): ContainerStatus {
  const { container, role } = each;
  const record = recordOf(facts, container.name);
  const { now } = moment;
  const { state, lastExit } = shownState(facts, each, moment);
  return {
    ...idOf(record, state, lastExit),
    image: shownImage(record, container),
    imageID: record.imageId,
    lastState: lastExit === undefined ? {} : { terminated: terminated(lastExit) },
    name: container.name,
    ready: isReady(facts, each, { state, now }),
    restartCount: record.restartCount,
    ...(role !== "ephemeral" && { started: isStarted(facts, container, now) }),
    state,
    ...grantedResources(container, record),
    ...shownMounts(container),
  };
}

/** Keyed by the mounts of a spec, which equal pods share. */
const knownMounts = new WeakMap<readonly VolumeMount[], readonly VolumeMountStatus[]>();

function shownMounts({ volumeMounts = [] }: Container): Pick<ContainerStatus, "volumeMounts"> {
  if (volumeMounts.length === 0) return {};
  const known = knownMounts.get(volumeMounts);
  if (known !== undefined) return { volumeMounts: known };
  const shown = volumeMounts.map(mountStatus);
  knownMounts.set(volumeMounts, shown);
  return { volumeMounts: shown };
}

/** Mounts inside the volume stay writable: the runtime does not support recursive read-only mounts. */
function mountStatus({ name, mountPath, readOnly = false }: VolumeMount): VolumeMountStatus {
  return { mountPath, name, ...(readOnly && { readOnly, recursiveReadOnly: "Disabled" }) };
}

/** As with the kubelet, an ephemeral container is never ready or started. */
function isReady(
  facts: PodFacts,
  { container, role }: RoleContainer,
  { state, now }: { readonly state: ContainerState; readonly now: number },
): boolean {
  if (role === "ephemeral") return false;
  return role === "init" ? state.terminated?.exitCode === 0 : isContainerReady(facts, container, now);
}

/** A run shows the image with which it started. */
function shownImage({ phase, image }: ContainerRecord, container: Container): string {
  const isOfRun = image !== "" && (phase.type === "running" || phase.type === "exited");
  return isOfRun ? image : (container.image ?? "");
}

interface Shown {
  readonly state: ContainerState;
  /** Shown as `lastState`. */
  readonly lastExit: Exit | undefined;
}

function shownState(facts: PodFacts, each: RoleContainer, { now, hasEnded }: StatusMoment): Shown {
  const record = recordOf(facts, each.container.name);
  const { phase, exit, exitBefore } = record;
  if (phase.type === "running") {
    return { state: { running: { startedAt: timeText(phase.startedAt) } }, lastExit: exit };
  }
  if (exit === undefined || (phase.type === "idle" && !hasEnded))
    return { state: beforeFirstRun(facts, each, { now, hasEnded }), lastExit: exit };
  const isOver = hasEnded || hasEndedForGood(facts, each);
  const waiting = isOver ? undefined : findWaiting(facts, each.container, { record, now });
  if (waiting !== undefined) return { state: { waiting }, lastExit: exit };
  return { state: { terminated: terminated(exit) }, lastExit: exitBefore };
}

function beforeFirstRun(
  facts: PodFacts,
  { container }: RoleContainer,
  { now, hasEnded }: StatusMoment,
): ContainerState {
  const hasInit = (facts.pod.spec.initContainers ?? []).length > 0;
  if (hasEnded && !hasInit) return { terminated: NEVER_FOUND };
  const record = recordOf(facts, container.name);
  const failed = findPullFailure(container, record, now);
  if (failed !== undefined) return { waiting: failed };
  return { waiting: { reason: hasInit ? "PodInitializing" : "ContainerCreating" } };
}

/**
 * The kubelet's status for a container without a trace when its pod has ended. Containers that wait for init
 * containers stay waiting.
 */
const NEVER_FOUND = {
  exitCode: 137,
  message: "The container could not be located when the pod was terminated",
  reason: "ContainerStatusUnknown",
};

interface Waiting {
  readonly reason: string;
  readonly message: string;
}

/** Why a container that ran before does not run now; undefined when its start is imminent. */
function findWaiting(
  { pod }: PodFacts,
  container: Container,
  { record, now }: { readonly record: ContainerRecord; readonly now: number },
): Waiting | undefined {
  const failed = findPullFailure(container, record, now);
  if (failed !== undefined) return failed;
  const delayMs = startDelayMs(record);
  if (delayMs <= 0) return undefined;
  return { reason: "CrashLoopBackOff", message: crashLoopMessage(pod.metadata, container.name, delayMs) };
}

function crashLoopMessage(
  { name, namespace = "", uid }: PodFacts["pod"]["metadata"],
  container: string,
  delayMs: number,
): string {
  return `back-off ${delayText(delayMs)} restarting failed container=${container} pod=${name}_${namespace}(${uid})`;
}

/** Parses the message, for an agent that restarts. */
export function crashLoopDelayMs(message: string): number | undefined {
  const { minutes = "0", seconds } =
    /^back-off (?:(?<minutes>\d+)m)?(?<seconds>\d+)s restarting/.exec(message)?.groups ?? {};
  return seconds === undefined ? undefined : (Number(minutes) * 60 + Number(seconds)) * 1000;
}

function delayText(ms: number): string {
  const seconds = Math.round(ms / 1000);
  return seconds < 60 ? `${seconds}s` : `${Math.floor(seconds / 60)}m${seconds % 60}s`;
}

/** Failures of a pull turn into a back-off; failures of the creation keep their reason. */
function isPullError(reason: string): boolean {
  return reason === "ErrImagePull";
}

function findPullFailure(
  { image = "" }: Container,
  { phase }: ContainerRecord,
  now: number,
): Waiting | undefined {
  if (phase.type !== "unpullable") return undefined;
  const { reason, message, failedAt, retryAt } = phase;
  if (retryAt === undefined || !isPullError(reason) || now < failedAt + PULL_ERROR_SHOWN_MS)
    return { reason, message };
  return {
    reason: "ImagePullBackOff",
    message: `Back-off pulling image ${JSON.stringify(image)}: ${reason}: ${message}`,
  };
}

function terminated({
  id,
  startedAt,
  finishedAt,
  exitCode,
  reason,
  message,
}: Exit): Readonly<NonNullable<ContainerState["terminated"]>> {
  return {
    // Absent for a container that never ran.
    ...(id !== "" && { containerID: id }),
    exitCode,
    ...(finishedAt > 0 && { finishedAt: timeText(finishedAt) }),
    ...(message !== undefined && { message }),
    reason,
    ...(startedAt > 0 && { startedAt: timeText(startedAt) }),
  };
}

function idOf(
  { phase }: ContainerRecord,
  { terminated: shown }: ContainerState,
  lastExit: Exit | undefined,
): Pick<ContainerStatus, "containerID"> {
  const id = shown?.containerID ?? (phase.type === "running" ? phase.id : lastExit?.id);
  return id === undefined || id === "" ? {} : { containerID: id };
}

/**
 * Granted and actual resources of a created container. They differ until a restart or a resize applies the
 * grant.
 */
function grantedResources(
  { resources: granted }: Container,
  { phase, exit, resources: inUse = granted }: ContainerRecord,
): Pick<ContainerStatus, "allocatedResources" | "resources"> {
  const isRunning = phase.type === "running";
  if (!isRunning && exit === undefined) return {};
  const { requests, limits } = isRunning ? inUse : granted;
  return {
    ...(granted.requests !== undefined && { allocatedResources: granted.requests }),
    resources: { ...(limits !== undefined && { limits }), ...(requests !== undefined && { requests }) },
  };
}
