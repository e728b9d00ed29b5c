/** What an agent that starts anew learns of a container from the status of its pod, which is the only record that outlives it. */
import type { ContainerStateTerminated, ContainerStatus } from "../../api/generated/types/core-v1.ts";
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

/** What was so before is so until a probe says otherwise. */
function restoredProbes({ ready, started }: ContainerStatus, now: number): ProbeRuns {
  const passed = { result: "success", since: now, before: "passes" } as const;
  return { ...(started === true && { startup: passed }), ...(ready && { readiness: passed }) };
}

/** A container that waits says how long; one that runs shows how long it waited last. */
function findCrashes({ state }: ContainerStatus, exit: Exit | undefined): BackOff | undefined {
  if (exit === undefined) return undefined;
  const delayMs = crashLoopDelayMs(state.waiting?.message ?? "");
  if (delayMs !== undefined) return { delayMs, at: exit.startedAt };
  const startedAt = timeOf(state.running?.startedAt);
  if (startedAt === undefined) return undefined;
  // Times are whole seconds, waits are 10 s or more.
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
