/**
 * The agent's state of one container, as data. Only `stepContainer` changes it after a report, and only
 * `begin…` functions change it after an action. All are pure.
 */
import type { Container } from "../../api/generated/types/core-v1.ts";
import type { ContainerReport, FoundImage, ProbeType } from "../runtime-handler.ts";

/** A finished run. */
export interface Exit {
  readonly id: string;
  readonly startedAt: number;
  readonly finishedAt: number;
  readonly exitCode: number;
  readonly reason: string;
  readonly message?: string;
  /**
   * The agent ended the run to start one with another image or size. A new run follows under any restart
   * policy.
   */
  readonly isReplaced?: boolean;
}

export type ProbeStatus = "passes" | "fails" | "open";

/** Consecutive equal results of a probe since `since`, one for each tick. */
export interface ProbeRun {
  readonly result: "success" | "failure";
  readonly since: number;
  /** Status before these results; it applies until they reach the threshold. */
  readonly before: ProbeStatus;
  /** Number of these results; undefined when it follows from the time. */
  readonly count?: number;
}

export type ProbeRuns = Readonly<Partial<Record<ProbeType, ProbeRun>>>;

export type ContainerPhase =
  /** No request to the runtime yet, or none since a restart of the whole pod. */
  | { readonly type: "idle" }
  | { readonly type: "inspecting" }
  /** The runtime has looked for the image; undefined when it must be pulled. */
  | { readonly type: "inspected"; readonly image: FoundImage | undefined }
  | { readonly type: "pulling" }
  /** The image is present; the start follows. */
  | { readonly type: "pulled" }
  /** The pull or the creation failed. `retryAt` is undefined when only a spec change can help. */
  | {
      readonly type: "unpullable";
      readonly reason: string;
      readonly message: string;
      readonly failedAt: number;
      readonly retryAt: number | undefined;
    }
  /** `waitedMs`: back-off before this start. */
  | { readonly type: "starting"; readonly waitedMs: number }
  | {
      readonly type: "running";
      readonly id: string;
      readonly startedAt: number;
      readonly probes: ProbeRuns;
      readonly asked: ReadonlySet<ProbeType>;
      /** Latest time of the kill; undefined without a stop request. */
      readonly killAt: number | undefined;
      /** The agent ends this run to start one with another image or size. */
      readonly isReplaced?: boolean;
    }
  | { readonly type: "exited" };

/** The last back-off delay, and its end. */
export interface BackOff {
  readonly delayMs: number;
  readonly at: number;
}

export type Limits = Container["resources"]["limits"];

export interface ContainerRecord {
  readonly phase: ContainerPhase;
  /** The last two finished runs. */
  readonly exit: Exit | undefined;
  readonly exitBefore: Exit | undefined;
  readonly restartCount: number;
  /** Image in the spec of the last run; empty before the first. */
  readonly image: string;
  readonly imageId: string;
  /** Resources of the last run; undefined before the first. */
  readonly resources: Container["resources"] | undefined;
  /** Pod-level limits at that time. They apply to a container without limits. */
  readonly podLimits: Limits | undefined;
  readonly crashes: BackOff | undefined;
  readonly pulls: BackOff | undefined;
  /** Start of the wait for the sources of its environment; undefined outside of it. */
  readonly lookingSince: number | undefined;
}

export const NEW_CONTAINER: ContainerRecord = {
  phase: { type: "idle" },
  exit: undefined,
  exitBefore: undefined,
  restartCount: 0,
  image: "",
  imageId: "",
  resources: undefined,
  podLimits: undefined,
  crashes: undefined,
  pulls: undefined,
  lookingSince: undefined,
};

/**
 * The kubelet's back-off: 10 s, doubled each time, at most 5 minutes. It resets after twice the maximum
 * without a failure.
 */
const FIRST_MS = 10_000;
export const LONGEST_MS = 300_000;

/** The back-off for another try at `at` after a failure at `failedAt`. */
export function nextBackOff(last: BackOff | undefined, failedAt: number, at: number): BackOff {
  if (last === undefined || failedAt - last.at > 2 * LONGEST_MS) return { delayMs: FIRST_MS, at };
  return { delayMs: Math.min(2 * last.delayMs, LONGEST_MS), at };
}

/** Earliest restart of a container that ended. */
export function restartAt({ exit, crashes }: ContainerRecord): number {
  if (exit === undefined) return 0;
  if (crashes === undefined || exit.finishedAt - crashes.at > 2 * LONGEST_MS) return exit.finishedAt;
  return exit.finishedAt + crashes.delayMs;
}

/** Back-off of the next or current start. */
export function startDelayMs(record: ContainerRecord): number {
  const { phase, exit } = record;
  if (phase.type === "starting") return phase.waitedMs;
  return exit === undefined ? 0 : restartAt(record) - exit.finishedAt;
}

/** The runtime has no run of the container, and none is requested. */
export function hasNoRun({ phase }: ContainerRecord): boolean {
  return phase.type === "idle" || phase.type === "exited" || phase.type === "unpullable";
}

/** Another image resets the back-off. */
export function beginInspect(record: ContainerRecord, image: string): ContainerRecord {
  return { ...record, phase: { type: "inspecting" }, crashes: crashesWith(record, image) };
}

export function beginPull(record: ContainerRecord, image: string): ContainerRecord {
  return { ...record, phase: { type: "pulling" }, crashes: crashesWith(record, image) };
}

/** Whether its current or last run has an image other than this one. */
export function isOutdated(record: ContainerRecord, image: string): boolean {
  return record.image !== "" && record.image !== image;
}

/** Another image resets the back-off, because it may not crash. */
function crashesWith(record: ContainerRecord, image: string): BackOff | undefined {
  return isOutdated(record, image) ? undefined : record.crashes;
}

/** A start after an exit counts as a restart and extends the next back-off. */
export function beginStart(
  record: ContainerRecord,
  { image = "", resources }: Container,
  now: number,
): ContainerRecord {
  const { exit } = record;
  const known = crashesWith(record, image);
  const waitedMs = startDelayMs(known === record.crashes ? record : { ...record, crashes: known });
  const crashes = exit === undefined ? undefined : nextBackOff(known, exit.finishedAt, now);
  const phase = { type: "starting", waitedMs } as const;
  return { ...record, phase, image, resources, crashes, lookingSince: undefined };
}

/** Before the start, the agent looks up the sources of the environment. */
export function beginEnvironmentLookup(record: ContainerRecord, now: number): ContainerRecord {
  return { ...record, lookingSince: now };
}

/** Restarts from the image on, together with the whole pod. */
export function reset(record: ContainerRecord): ContainerRecord {
  return { ...record, phase: { type: "idle" }, lookingSince: undefined };
}

/** A resize without a restart. */
export function resize(record: ContainerRecord, { resources }: Container): ContainerRecord {
  return { ...record, resources };
}

export function beginProbe(record: ContainerRecord, probe: ProbeType): ContainerRecord {
  const { phase } = record;
  if (phase.type !== "running") return record;
  return { ...record, phase: { ...phase, asked: new Set([...phase.asked, probe]) } };
}

/** Drops a start that has not happened yet. */
export function beginStop(
  record: ContainerRecord,
  { killAt, isReplaced }: { readonly killAt: number; readonly isReplaced: boolean },
): ContainerRecord {
  const { phase, exit } = record;
  if (phase.type === "running") return { ...record, phase: { ...phase, killAt, isReplaced } };
  return { ...record, phase: { type: exit === undefined ? "idle" : "exited" }, lookingSince: undefined };
}

export function cannotPull(
  record: ContainerRecord,
  failure: {
    readonly reason: string;
    readonly message: string;
    readonly retryAfterMs?: number;
    readonly now: number;
  },
): ContainerRecord {
  const { reason, message, retryAfterMs, now } = failure;
  const retryAt = retryAfterMs === undefined ? undefined : now + retryAfterMs;
  return {
    ...record,
    phase: { type: "unpullable", reason, message, failedAt: now, retryAt },
    lookingSince: undefined,
  };
}

/** Shared by all new runs, to save memory. */
const NO_PROBES: ProbeRuns = {};
const NONE_ASKED: ReadonlySet<ProbeType> = new Set();

export interface StepMoment {
  readonly now: number;
  /** The current status of a probe. */
  readonly probeStatus: (probe: ProbeType) => ProbeStatus;
}

/** Ignores a report that does not fit the phase, because it is late. */
export function stepContainer(
  record: ContainerRecord,
  report: ContainerReport,
  { now, probeStatus }: StepMoment,
): ContainerRecord {
  if (report.type === "probed") {
    const { phase } = record;
    if (phase.type !== "running") return record;
    return { ...record, phase: probed(phase, report, probeStatus(report.probe)) };
  }
  return PHASE_BEFORE[report.type] === record.phase.type ? settled(record, report, now) : record;
}

/** The phase that each report ends. */
const PHASE_BEFORE = {
  inspected: "inspecting",
  pulled: "pulling",
  "pull-failed": "pulling",
  started: "starting",
  "start-failed": "starting",
  exited: "running",
} as const;

function settled(
  record: ContainerRecord,
  report: Report<keyof typeof PHASE_BEFORE>,
  now: number,
): ContainerRecord {
  switch (report.type) {
    case "inspected":
      return { ...record, phase: { type: "inspected", image: report.image } };
    case "pulled":
      return { ...record, phase: { type: "pulled" }, imageId: report.image.id, pulls: undefined };
    case "pull-failed":
      return pullFailed(record, report.message, now);
    case "started":
      return started(record, report);
    case "start-failed":
      return startFailed(record, report, now);
    case "exited":
      return exited(record, report);
  }
}

type Running = Extract<ContainerPhase, { type: "running" }>;
type Report<Type extends ContainerReport["type"]> = Extract<ContainerReport, { type: Type }>;

function pullFailed(record: ContainerRecord, message: string, now: number): ContainerRecord {
  const pulls = nextBackOff(record.pulls, now, now);
  return {
    ...record,
    pulls,
    phase: {
      type: "unpullable",
      reason: "ErrImagePull",
      message,
      failedAt: now,
      retryAt: now + pulls.delayMs,
    },
  };
}

function started(record: ContainerRecord, { id, imageId, at }: Report<"started">): ContainerRecord {
  return {
    ...record,
    imageId,
    restartCount: record.exit === undefined ? record.restartCount : record.restartCount + 1,
    phase: {
      type: "running",
      id,
      startedAt: at,
      probes: NO_PROBES,
      asked: NONE_ASKED,
      killAt: undefined,
    },
  };
}

/** The kubelet's exit code for a program that could not be started. */
const START_ERROR_CODE = 128;
/** The kubelet's delay after a failed pass. */
export const CREATE_RETRY_MS = 10_000;

/** A program that could not be started counts as a run, so that the restart policy and the back-off apply. */
function startFailed(
  record: ContainerRecord,
  { reason, message }: Report<"start-failed">,
  now: number,
): ContainerRecord {
  if (reason !== "RunContainerError")
    return cannotPull(record, { reason, message, retryAfterMs: CREATE_RETRY_MS, now });
  const counted = started(record, { type: "started", id: "", imageId: record.imageId, at: now });
  return {
    ...counted,
    phase: { type: "exited" },
    exitBefore: record.exit,
    exit: {
      ...{ id: "", startedAt: now, finishedAt: now, exitCode: START_ERROR_CODE },
      ...{ reason: "StartError", message },
    },
  };
}

function exited(
  record: ContainerRecord,
  { at, exitCode, reason, message }: Report<"exited">,
): ContainerRecord {
  const { phase } = record;
  if (phase.type !== "running") return record;
  const { id, startedAt, isReplaced } = phase;
  const exit: Exit = {
    id,
    startedAt,
    finishedAt: at,
    exitCode,
    reason: reason ?? (exitCode === 0 ? "Completed" : "Error"),
    ...(message !== undefined && { message }),
    ...(isReplaced === true && { isReplaced }),
  };
  return { ...record, phase: { type: "exited" }, exit, exitBefore: record.exit };
}

function probed(
  phase: Running,
  { probe, result, at, count }: Report<"probed">,
  before: ProbeStatus,
): Running {
  const run = { result, since: at, before, ...(count !== undefined && { count }) };
  return { ...phase, probes: { ...phase.probes, [probe]: run } };
}
