/**
 * Restores a container's record after a restart of the agent: its counts and back-off from the status of its pod, its
 * run from the runtime.
 */
import type { ContainerStateTerminated, ContainerStatus } from "../../api/generated/types/core-v1.ts";
import type { ContainerExit, FoundContainer } from "../runtime-handler.ts";
import {
  LONGEST_MS,
  NEW_CONTAINER,
  nextBackOff,
  type BackOff,
  type ContainerPhase,
  type ContainerRecord,
  type Exit,
  type ProbeRuns,
} from "./container-record.ts";
import { crashLoopDelayMs } from "./container-status.ts";

export function restoredRecord(status: ContainerStatus, now: number): ContainerRecord {
  const { state, lastState, restartCount, image, imageID } = status;
  const shown = findExit(state.terminated);
  const last = findExit(lastState.terminated);
  const exit = shown ?? last;
  return {
    ...NEW_CONTAINER,
    phase: restoredPhase(status, exit, now),
    exit,
    exitBefore: shown === undefined ? undefined : last,
    restartCount,
    image,
    imageId: imageID,
    resources: status.resources ?? {},
    crashes: findCrashes(status, exit),
  };
}

/** The kubelet's exit of a container that the runtime has lost. */
const LOST = {
  exitCode: 137,
  reason: "ContainerStatusUnknown",
  message: "The container could not be located when the pod was deleted.  The container used to be Running",
};

/** The runtime knows better than the status, which may be older or newer than a crash of the agent or the machine. */
export function trueRecord(
  record: ContainerRecord,
  found: FoundContainer | undefined,
  now: number,
): ContainerRecord {
  const { phase } = record;
  const shownId = phase.type === "running" ? phase.id : record.exit?.id;
  if (found === undefined) {
    if (phase.type !== "running") return record;
    const exit = { ...LOST, id: phase.id, startedAt: phase.startedAt, finishedAt: now };
    return { ...record, phase: { type: "exited" }, exit, exitBefore: record.exit };
  }
  const isKnown = shownId === found.id;
  if (isKnown && (phase.type === "running") === (found.exit === undefined)) return record;
  const counted = {
    ...record,
    imageId: found.imageId,
    restartCount: Math.max(record.restartCount, found.attempt),
  };
  if (found.exit === undefined) return { ...counted, phase: runningPhase(found) };
  const exit = endOf(found, found.exit);
  return { ...counted, phase: { type: "exited" }, exit, exitBefore: record.exit };
}

function runningPhase({ id, startedAt }: FoundContainer): ContainerPhase {
  return { type: "running", id, startedAt, probes: {}, asked: new Set(), killAt: undefined };
}

function endOf({ id, startedAt }: FoundContainer, exit: ContainerExit): Exit {
  const { at, exitCode, reason, message } = exit;
  return {
    ...{ id, startedAt, finishedAt: at, exitCode },
    reason: reason ?? (exitCode === 0 ? "Completed" : "Error"),
    ...(message !== undefined && { message }),
  };
}

function restoredPhase(status: ContainerStatus, exit: Exit | undefined, now: number): ContainerPhase {
  const { state, containerID = "" } = status;
  if (state.running === undefined) return { type: exit === undefined ? "idle" : "exited" };
  return {
    type: "running",
    id: containerID,
    startedAt: timeOf(state.running.startedAt) ?? now,
    probes: restoredProbes(status, now),
    asked: new Set(),
    killAt: undefined,
  };
}

/** The earlier status applies until a probe reports a result. */
function restoredProbes({ ready, started }: ContainerStatus, now: number): ProbeRuns {
  const passed = { result: "success", since: now, before: "passes" } as const;
  return { ...(started === true && { startup: passed }), ...(ready && { readiness: passed }) };
}

/**
 * The message of a waiting container contains the delay. The delay of a running container follows from its
 * times.
 */
function findCrashes({ state }: ContainerStatus, exit: Exit | undefined): BackOff | undefined {
  if (exit === undefined) return undefined;
  const delayMs = crashLoopDelayMs(state.waiting?.message ?? "");
  if (delayMs !== undefined) return { delayMs, at: exit.startedAt };
  const startedAt = timeOf(state.running?.startedAt);
  if (startedAt === undefined) return undefined;
  // Times are whole seconds, and delays are at least 10 s.
  const waitedMs = Math.min(startedAt - exit.finishedAt, LONGEST_MS);
  const last = waitedMs < 5000 ? undefined : { delayMs: waitedMs, at: exit.finishedAt };
  return nextBackOff(last, exit.finishedAt, startedAt);
}

function findExit(terminated: ContainerStateTerminated | undefined): Exit | undefined {
  if (terminated === undefined) return undefined;
  const { containerID = "", exitCode, reason, message, startedAt, finishedAt } = terminated;
  const finished = timeOf(finishedAt) ?? 0;
  return {
    id: containerID,
    exitCode,
    startedAt: timeOf(startedAt) ?? finished,
    finishedAt: finished,
    reason: reason ?? (exitCode === 0 ? "Completed" : "Error"),
    ...(message !== undefined && { message }),
  };
}

function timeOf(text: string | undefined): number | undefined {
  const ms = text === undefined ? NaN : Date.parse(text);
  return Number.isNaN(ms) ? undefined : ms;
}
