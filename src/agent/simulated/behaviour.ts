/** What a simulated container does: told by annotations, else by its command, else by what it belongs to. A pure function of the pod and of what lies in its volumes. */
import type { Container, Pod } from "../../api/generated/types/core-v1.ts";
import { isSidecar } from "../../resources/pod/pod-resources.ts";
import {
  findSimulated,
  findSimulatedMs,
  isSimulatedAnnotation,
} from "../../resources/pod/simulated-annotations.ts";
import { controllerOf } from "../../runtime/refs/owner-reference.ts";
import { environmentOf, expand } from "../pod/environment.ts";
import { mayHaveChoices, withoutChoices, type Surroundings } from "./plain-choice.ts";
import { findPlain, NO_FILES, type Plain, type PlainRun } from "./plain-command.ts";
import { plainProbe } from "./plain-probe.ts";
import type { Span } from "./span.ts";

export interface Behaviour {
  readonly pullMs: number;
  /** What is said when its image is pulled in vain. */
  readonly pullFailure: string | undefined;
  readonly startMs: number;
  /** Undefined: it runs until it is stopped. */
  readonly exit: PlainRun | undefined;
  /** When in a run the files are there that it makes. */
  readonly files: ReadonlyMap<string, Span>;
  /** So many runs end as `exit` says, later ones go on. */
  readonly exitTimes: number;
  /** Since the start of the run, probes of each type succeed from `fromMs` to `untilMs`. */
  readonly startup: Span;
  readonly readiness: Span;
  readonly liveness: Span;
  /** How long it goes on after it was asked to end, and with which code it then ends. */
  readonly terminationMs: number;
  readonly terminationCode: number;
}

/** Short, but long enough to be seen. */
const PULL_MS = 20;
const START_MS = 20;
/** How long something takes that has an end but does not say when. */
const TASK_MS = 1000;
/** 128 + SIGTERM, of a process that does nothing about the signal. */
const TERMINATED_CODE = 143;

const DURATIONS = [
  "pull-delay",
  "start-delay",
  "exit-after",
  "started-after",
  "ready-after",
  "unready-after",
  "unhealthy-after",
  "termination-time",
];
const NUMBERS = ["exit-code", "exit-times", "termination-exit-code"];
const TEXTS = ["pull-failure", "cpu", "memory"];

/** Whether a file is there when the container starts; undefined when nothing is known of it. */
export type FileView = Surroundings["isThere"];

export function behaviourOf(pod: Pod, container: Container, isThere: FileView): Behaviour {
  const plain = plainOf(pod, container, isThere);
  const untold = defaultBehaviour(plain, container);
  if (!isTold(pod)) return untold;
  const told = (name: string | undefined): number | undefined =>
    name === undefined ? undefined : durationOf(pod, container, name);
  const span = (own: Span, from: string | undefined, until: string | undefined): Span => {
    const [fromMs, untilMs] = [told(from), told(until)];
    if (fromMs === undefined && untilMs === undefined) return own;
    return { fromMs: fromMs ?? 0, untilMs: untilMs ?? Infinity };
  };
  return {
    pullMs: durationOf(pod, container, "pull-delay") ?? PULL_MS,
    pullFailure: findSimulated(pod, container.name, "pull-failure"),
    startMs: durationOf(pod, container, "start-delay") ?? START_MS,
    exit: toldExit(pod, container, untold.exit),
    files: untold.files,
    exitTimes: numberOf(pod, container, "exit-times") ?? Infinity,
    startup: span(untold.startup, "started-after", undefined),
    readiness: span(untold.readiness, "ready-after", "unready-after"),
    liveness: span(untold.liveness, undefined, "unhealthy-after"),
    terminationMs: durationOf(pod, container, "termination-time") ?? 0,
    terminationCode: numberOf(pod, container, "termination-exit-code") ?? TERMINATED_CODE,
  };
}

/** Which annotations say nothing that can be done. */
export function behaviourProblems({ metadata }: Pod): readonly string[] {
  const problems: string[] = [];
  for (const [key, text] of Object.entries(metadata.annotations ?? {})) {
    if (!isSimulatedAnnotation(key)) continue;
    const name = key.slice(key.indexOf("/") + 1);
    if (DURATIONS.includes(name)) {
      if (findSimulatedMs(text) === undefined) problems.push(`${key}: ${quote(text)} is no duration`);
    } else if (NUMBERS.includes(name)) {
      if (!isNumber(text)) problems.push(`${key}: ${quote(text)} is no number`);
    } else if (!TEXTS.includes(name)) problems.push(`${key}: there is no such annotation`);
  }
  return problems;
}

/** Whether something is said about when it is ready, although it has no probe that would find out. */
export function hasToldReadiness(pod: Pod, { name }: Container): boolean {
  return (
    isTold(pod) &&
    (findSimulated(pod, name, "ready-after") ?? findSimulated(pod, name, "unready-after")) !== undefined
  );
}

function defaultBehaviour(plain: Plain | undefined, container: Container): Behaviour {
  return {
    pullMs: PULL_MS,
    pullFailure: undefined,
    startMs: START_MS,
    exit: plain?.run.afterMs === Infinity ? undefined : plain?.run,
    files: plain?.files ?? NO_FILES,
    exitTimes: Infinity,
    startup: plainProbe(container.startupProbe, container),
    readiness: plainProbe(container.readinessProbe, container),
    liveness: plainProbe(container.livenessProbe, container),
    terminationMs: 0,
    terminationCode: TERMINATED_CODE,
  };
}

function isTold({ metadata }: Pod): boolean {
  for (const key in metadata.annotations) if (isSimulatedAnnotation(key)) return true;
  return false;
}

function plainOf(pod: Pod, container: Container, isThere: FileView): Plain | undefined {
  const words = wordsOf(pod, container, isThere);
  const plain = words.length === 0 ? findImageRun(container) : findPlain(words);
  if (plain !== undefined) return plain;
  return hasAnEnd(pod, container) ? { run: { afterMs: TASK_MS, exitCode: 0 }, files: NO_FILES } : undefined;
}

/** Its command, with what is known of it put in. */
function wordsOf(pod: Pod, container: Container, isThere: FileView): readonly string[] {
  const words = [...(container.command ?? []), ...(container.args ?? [])];
  if (!words.some(mayHaveChoices)) return words;
  const environment = environmentOf(pod, container);
  const user = container.securityContext?.runAsUser ?? pod.spec.securityContext?.runAsUser;
  return words.map((word) => {
    const text = user === undefined ? word : word.replaceAll("$(id -u)", String(user));
    return withoutChoices(expand(text, environment) ?? text, { environment, isThere });
  });
}

/** The image that only waits, of which every node has one, does so wherever it is used. */
function findImageRun({ image = "" }: Container): Plain | undefined {
  const isPause = /(?:^|\/)pause(?:[:@]|$)/.test(image);
  return isPause ? { run: { afterMs: Infinity, exitCode: 0 }, files: NO_FILES } : undefined;
}

/** A task: a container before others, or one that a Job waits for. */
function hasAnEnd(pod: Pod, container: Container): boolean {
  if (isSidecar(container) && isInit(pod, container)) return false;
  return isInit(pod, container) || controllerOf(pod)?.kind === "Job";
}

function isInit({ spec }: Pod, { name }: Container): boolean {
  return spec.initContainers?.some((each) => each.name === name) ?? false;
}

/** A code alone changes only the code, and alone with it a time of 0 is meant when nothing else says that it ends. */
function toldExit(pod: Pod, container: Container, plain: PlainRun | undefined): PlainRun | undefined {
  const afterMs = durationOf(pod, container, "exit-after");
  const exitCode = numberOf(pod, container, "exit-code");
  if (afterMs === Infinity) return undefined;
  if (afterMs === undefined && exitCode === undefined) return plain;
  return {
    afterMs: afterMs ?? plain?.afterMs ?? 0,
    exitCode: exitCode ?? (afterMs === undefined ? (plain?.exitCode ?? 0) : 0),
  };
}

function durationOf(pod: Pod, { name }: Container, annotation: string): number | undefined {
  const text = findSimulated(pod, name, annotation);
  return text === undefined ? undefined : findSimulatedMs(text);
}

function numberOf(pod: Pod, { name }: Container, annotation: string): number | undefined {
  const text = findSimulated(pod, name, annotation);
  return text !== undefined && isNumber(text) ? Number(text) : undefined;
}

function isNumber(text: string): boolean {
  return /^\d{1,9}$/.test(text);
}

function quote(text: string): string {
  return JSON.stringify(text.slice(0, 100));
}
