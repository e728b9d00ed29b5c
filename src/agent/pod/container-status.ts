/** A container as the status of its pod shows it. */
import type {
  Container,
  ContainerState,
  ContainerStatus,
  VolumeMount,
  VolumeMountStatus,
} from "../../api/generated/types/core-v1.ts";
import { dateTimeText } from "../../base/date-text.ts";
import { putOffMs, type ContainerRecord, type Exit } from "./container-record.ts";
import { CONFIG_ERROR, PULL_ERROR_SHOWN_MS } from "./plan-pod.ts";
import { hasEndedForGood, isContainerReady, isStarted, recordOf, type PodFacts } from "./pod-facts.ts";
import type { RoleContainer } from "./restart-rules.ts";

export interface StatusMoment {
  readonly now: number;
  /** Nothing of the pod is left in the runtime, and nothing will be. */
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

/** By the mounts of a spec, which pods that are alike share. */
const knownMounts = new WeakMap<readonly VolumeMount[], readonly VolumeMountStatus[]>();

function shownMounts({ volumeMounts = [] }: Container): Pick<ContainerStatus, "volumeMounts"> {
  if (volumeMounts.length === 0) return {};
  const known = knownMounts.get(volumeMounts);
  if (known !== undefined) return { volumeMounts: known };
  const shown = volumeMounts.map(mountStatus);
  knownMounts.set(volumeMounts, shown);
  return { volumeMounts: shown };
}

/** What is mounted within the volume may be written to all the same: the runtime knows of no other way. */
function mountStatus({ name, mountPath, readOnly = false }: VolumeMount): VolumeMountStatus {
  return { mountPath, name, ...(readOnly && { readOnly, recursiveReadOnly: "Disabled" }) };
}

/** As kubelet says it: what is there to look into a pod is never ready, nor does it say that it has started. */
function isReady(
  facts: PodFacts,
  { container, role }: RoleContainer,
  { state, now }: { readonly state: ContainerState; readonly now: number },
): boolean {
  if (role === "ephemeral") return false;
  return role === "init" ? state.terminated?.exitCode === 0 : isContainerReady(facts, container, now);
}

/** What runs, or has run, shows the image that it was started with. */
function shownImage({ phase, image }: ContainerRecord, container: Container): string {
  const isOfRun = image !== "" && (phase.type === "running" || phase.type === "exited");
  return isOfRun ? image : (container.image ?? "");
}

interface Shown {
  readonly state: ContainerState;
  /** What is shown as `lastState`. */
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

/** As kubelet shows a container that it finds no trace of when its pod is over; those that were still waiting for init containers go on so. */
const NEVER_FOUND = {
  exitCode: 137,
  message: "The container could not be located when the pod was terminated",
  reason: "ContainerStatusUnknown",
};

interface Waiting {
  readonly reason: string;
  readonly message: string;
}

/** Why a container that ran before does not run now; undefined when it is about to. */
function findWaiting(
  { pod }: PodFacts,
  container: Container,
  { record, now }: { readonly record: ContainerRecord; readonly now: number },
): Waiting | undefined {
  const failed = findPullFailure(container, record, now);
  if (failed !== undefined) return failed;
  const delayMs = putOffMs(record);
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

/** The other direction, for an agent that starts anew. */
export function crashLoopDelayMs(message: string): number | undefined {
  const { minutes = "0", seconds } =
    /^back-off (?:(?<minutes>\d+)m)?(?<seconds>\d+)s restarting/.exec(message)?.groups ?? {};
  return seconds === undefined ? undefined : (Number(minutes) * 60 + Number(seconds)) * 1000;
}

function delayText(ms: number): string {
  const seconds = Math.round(ms / 1000);
  return seconds < 60 ? `${seconds}s` : `${Math.floor(seconds / 60)}m${seconds % 60}s`;
}

function findPullFailure(
  { image = "" }: Container,
  { phase }: ContainerRecord,
  now: number,
): Waiting | undefined {
  if (phase.type !== "unpullable") return undefined;
  const { reason, message, failedAt, retryAt } = phase;
  if (retryAt === undefined || reason === CONFIG_ERROR || now < failedAt + PULL_ERROR_SHOWN_MS)
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
    // One that never ran has none of these.
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

/** What a container that was made is granted, and what it has: that is less or more until it has been started anew for it. */
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

/** The last second that was written: most times of a moment are the same. */
let known = { second: NaN, text: "" };

/** Whole seconds, as statuses have them. */
export function timeText(ms: number): string {
  const second = Math.floor(ms / 1000);
  if (known.second !== second) {
    known = { second, text: `${dateTimeText(ms)}Z` };
  }
  return known.text;
}
