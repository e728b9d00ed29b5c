/**
 * What the agent knows of one container of a pod, as data. `stepContainer` is the only place where a report changes it, `beginContainer` the only
 * one where an action does; both are pure.
 */
import type { Container } from "../../api/generated/types/core-v1.ts";
import type { ContainerReport, ProbeType } from "../container-runtime.ts";

/** One finished run. */
export interface Exit {
  readonly id: string;
  readonly startedAt: number;
  readonly finishedAt: number;
  readonly exitCode: number;
  readonly reason: string;
  readonly message?: string;
  /** It was ended to run with another image or size; whatever else is said of restarts, it is followed by another run. */
  readonly isReplaced?: boolean;
}

export type Verdict = "passes" | "fails" | "open";

/** Consecutive results of a probe: the same since `since`, tick by tick. */
export interface ProbeRun {
  readonly result: "success" | "failure";
  readonly since: number;
  /** What was known before this run of results; it stands until the threshold for something else is reached. */
  readonly before: Verdict;
}

export type ProbeRuns = Readonly<Partial<Record<ProbeType, ProbeRun>>>;

export type ContainerPhase =
  /** Nothing has been asked of the runtime, or nothing since the whole pod began anew. */
  | { readonly type: "idle" }
  | { readonly type: "pulling" }
  /** Its image is there; it is started next. */
  | { readonly type: "pulled" }
  /** Its image cannot be had, or it cannot be created. `retryAt`: undefined when only another spec is of use. */
  | {
      readonly type: "unpullable";
      readonly reason: string;
      readonly message: string;
      readonly failedAt: number;
      readonly retryAt: number | undefined;
    }
  /** `waitedMs`: how long the start was put off because of earlier failures. */
  | { readonly type: "starting"; readonly waitedMs: number }
  | {
      readonly type: "running";
      readonly id: string;
      readonly startedAt: number;
      readonly probes: ProbeRuns;
      readonly asked: ReadonlySet<ProbeType>;
      /** When it will have been killed at the latest; undefined while nobody wants it to end. */
      readonly killAt: number | undefined;
      /** It is being ended to run with another image or size. */
      readonly isReplaced?: boolean;
    }
  | { readonly type: "exited" };

/** How long was waited last, and when that wait was over. */
export interface BackOff {
  readonly delayMs: number;
  readonly at: number;
}

export type Limits = Container["resources"]["limits"];

export interface ContainerRecord {
  readonly phase: ContainerPhase;
  /** The last finished run, and the one before it. */
  readonly exit: Exit | undefined;
  readonly exitBefore: Exit | undefined;
  readonly restartCount: number;
  /** What its last run was started with, as its spec named it then; empty before. */
  readonly image: string;
  readonly imageId: string;
  /** What its last run has been given; undefined before. */
  readonly resources: Container["resources"] | undefined;
  /** The limits that its pod had as a whole then: where it has none of its own, they are its limits. */
  readonly podLimits: Limits | undefined;
  readonly crashes: BackOff | undefined;
  readonly pulls: BackOff | undefined;
  /** Since when it waits to know what its environment is made of; undefined when it does not. */
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

/** As kubelet's: 10 s, doubled each time, at most 5 minutes; forgotten after twice that without a failure. */
const FIRST_MS = 10_000;
export const LONGEST_MS = 300_000;

/** The back-off after one more try at `at`, when the failure before it was at `failedAt`. */
export function nextBackOff(last: BackOff | undefined, failedAt: number, at: number): BackOff {
  if (last === undefined || failedAt - last.at > 2 * LONGEST_MS) return { delayMs: FIRST_MS, at };
  return { delayMs: Math.min(2 * last.delayMs, LONGEST_MS), at };
}

/** When a container that ended may be started again. */
export function restartAt({ exit, crashes }: ContainerRecord): number {
  if (exit === undefined) return 0;
  if (crashes === undefined || exit.finishedAt - crashes.at > 2 * LONGEST_MS) return exit.finishedAt;
  return exit.finishedAt + crashes.delayMs;
}

/** How long the next start, or the one under way, is put off. */
export function putOffMs(record: ContainerRecord): number {
  const { phase, exit } = record;
  if (phase.type === "starting") return phase.waitedMs;
  return exit === undefined ? 0 : restartAt(record) - exit.finishedAt;
}

/** Nothing of it is in the runtime, or will be soon. */
export function isAtRest({ phase }: ContainerRecord): boolean {
  return phase.type === "idle" || phase.type === "exited" || phase.type === "unpullable";
}

export function beginPull(record: ContainerRecord, image: string): ContainerRecord {
  return { ...record, phase: { type: "pulling" }, crashes: crashesWith(record, image) };
}

/** Whether it ran last, or runs, with another image than this. */
export function isOutdated(record: ContainerRecord, image: string): boolean {
  return record.image !== "" && record.image !== image;
}

/** What crashed with another image may well run with this one. */
function crashesWith(record: ContainerRecord, image: string): BackOff | undefined {
  return isOutdated(record, image) ? undefined : record.crashes;
}

/** A start after an end is a restart, and makes the next one wait longer. */
export function beginStart(
  record: ContainerRecord,
  { image = "", resources }: Container,
  now: number,
): ContainerRecord {
  const { exit } = record;
  const known = crashesWith(record, image);
  const waitedMs = putOffMs(known === record.crashes ? record : { ...record, crashes: known });
  const crashes = exit === undefined ? undefined : nextBackOff(known, exit.finishedAt, now);
  const phase = { type: "starting", waitedMs } as const;
  return { ...record, phase, image, resources, crashes, lookingSince: undefined };
}

/** Before it is started, it is found out what its environment is made of. */
export function beginLook(record: ContainerRecord, now: number): ContainerRecord {
  return { ...record, lookingSince: now };
}

/** It starts anew from its image on, as part of a pod that does. */
export function reset(record: ContainerRecord): ContainerRecord {
  return { ...record, phase: { type: "idle" }, lookingSince: undefined };
}

/** It runs on with another size. */
export function resize(record: ContainerRecord, { resources }: Container): ContainerRecord {
  return { ...record, resources };
}

export function beginProbe(record: ContainerRecord, probe: ProbeType): ContainerRecord {
  const { phase } = record;
  if (phase.type !== "running") return record;
  return { ...record, phase: { ...phase, asked: new Set([...phase.asked, probe]) } };
}

/** What has not been started yet is given up. */
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

/** Shared by all that have just begun to run. */
const NO_PROBES: ProbeRuns = {};
const NONE_ASKED: ReadonlySet<ProbeType> = new Set();

export interface StepMoment {
  readonly now: number;
  /** What is known of a probe at the moment. */
  readonly verdict: (probe: ProbeType) => Verdict;
}

/** A report that does not fit the phase comes too late and changes nothing. */
export function stepContainer(
  record: ContainerRecord,
  report: ContainerReport,
  { now, verdict }: StepMoment,
): ContainerRecord {
  const { phase } = record;
  switch (report.type) {
    case "pulled":
      if (phase.type !== "pulling") return record;
      return { ...record, phase: { type: "pulled" }, imageId: report.imageId, pulls: undefined };
    case "pull-failed":
      return phase.type === "pulling" ? pullFailed(record, report.message, now) : record;
    case "started":
      return phase.type === "starting" ? started(record, report) : record;
    case "exited":
      return phase.type === "running" ? exited(record, phase, report) : record;
    case "probed":
      if (phase.type !== "running") return record;
      return { ...record, phase: probed(phase, report, verdict(report.probe)) };
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

function exited(
  record: ContainerRecord,
  { id, startedAt, isReplaced }: Running,
  { at, exitCode, reason, message }: Report<"exited">,
): ContainerRecord {
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

function probed(phase: Running, { probe, result, at }: Report<"probed">, before: Verdict): Running {
  return { ...phase, probes: { ...phase.probes, [probe]: { result, since: at, before } } };
}
