/**
 * Determines the behaviour of a simulated container: from annotations, else from its command, else from its
 * role. A pure function of the pod and of the files in its volumes.
 */
import type { Container, Pod } from "../../api/generated/types/core-v1.ts";
import { errorText } from "../../base/error-text.ts";
import { isSidecar } from "../../resources/pod/pod-resources.ts";
import {
  findSimulated,
  findSimulatedMs,
  isSimulatedAnnotation,
} from "../../resources/pod/simulated-annotations.ts";
import { controllerOf } from "../../runtime/refs/owner-reference.ts";
import { environmentOf, expand } from "../pod/environment.ts";
import { parseExecScript, parsePorts } from "./exec-script.ts";
import type { ScriptLine } from "./log-script.ts";
import { mayHaveConditions, resolveConditions, type ScriptContext } from "./shell-conditions.ts";
import { findSimpleCommand, NO_FILES, type SimpleCommand, type CommandRun } from "./simple-command.ts";
import { simulatedProbe } from "./simulated-probe.ts";
import type { TimeSpan } from "./time-span.ts";

export interface Behaviour {
  readonly pullMs: number;
  /** Message of a failed pull; undefined when the pull succeeds. */
  readonly pullFailure: string | undefined;
  readonly startMs: number;
  /** Undefined for a container that runs until it is stopped. */
  readonly exit: CommandRun | undefined;
  /** Files that a run creates, with the time in which each exists. */
  readonly files: ReadonlyMap<string, TimeSpan>;
  /** Lines that the command is known to print. */
  readonly output: readonly ScriptLine[];
  /** Number of runs that end as `exit` says; later runs do not end. */
  readonly exitTimes: number;
  /** Times after the start of the run in which probes of each type succeed. */
  readonly startup: TimeSpan;
  readonly readiness: TimeSpan;
  readonly liveness: TimeSpan;
  /** Time from the stop request to the end, and the exit code. */
  readonly terminationMs: number;
  readonly terminationCode: number;
}

/** Short, but long enough to be visible in a watch. */
const PULL_MS = 20;
const START_MS = 20;
/** Duration of a task without a stated duration. */
const TASK_MS = 1000;
/** 128 + SIGTERM: the exit code of a process that does not handle the signal. */
const TERMINATED_CODE = 143;

/** A server that runs for ever handles SIGTERM and ends with 0. A task that is ended early has failed. */
function terminatedCode({ spec }: Pod): number {
  return (spec.restartPolicy ?? "Always") === "Always" ? 0 : TERMINATED_CODE;
}

const NOTHING = { files: NO_FILES, output: [] };

/** The recycler of volumes, for example. */
const DELETION = /\bfind \S+ .*-delete\b/;

const DURATIONS = [
  "pull-delay",
  "start-delay",
  "exit-after",
  "started-after",
  "ready-after",
  "unready-after",
  "unhealthy-after",
  "termination-time",
  "log-every",
];
const NUMBERS = ["exit-code", "exit-times", "termination-exit-code"];
const TEXTS = ["pull-failure", "cpu", "memory", "log"];
const PARSERS: ReadonlyMap<string, (text: string) => unknown> = new Map<string, (text: string) => unknown>([
  ["exec", parseExecScript],
  ["ports", parsePorts],
]);

/** Whether a file exists when the container starts; undefined when that is unknown. */
export type FileView = ScriptContext["isThere"];

export function behaviourOf(pod: Pod, container: Container, isThere: FileView): Behaviour {
  const simple = simpleCommandOf(pod, container, isThere);
  const byDefault = defaultBehaviour(simple, pod, container);
  if (!isAnnotated(pod)) return byDefault;
  const annotated = (name: string | undefined): number | undefined =>
    name === undefined ? undefined : durationOf(pod, container, name);
  const span = (own: TimeSpan, from: string | undefined, until: string | undefined): TimeSpan => {
    const [fromMs, untilMs] = [annotated(from), annotated(until)];
    if (fromMs === undefined && untilMs === undefined) return own;
    return { fromMs: fromMs ?? 0, untilMs: untilMs ?? Infinity };
  };
  return {
    pullMs: durationOf(pod, container, "pull-delay") ?? PULL_MS,
    pullFailure: findSimulated(pod, container.name, "pull-failure"),
    startMs: durationOf(pod, container, "start-delay") ?? START_MS,
    exit: exitOf(pod, container, byDefault.exit),
    files: byDefault.files,
    output: byDefault.output,
    exitTimes: numberOf(pod, container, "exit-times") ?? Infinity,
    startup: span(byDefault.startup, "started-after", undefined),
    readiness: span(byDefault.readiness, "ready-after", "unready-after"),
    liveness: span(byDefault.liveness, undefined, "unhealthy-after"),
    terminationMs: durationOf(pod, container, "termination-time") ?? 0,
    terminationCode: numberOf(pod, container, "termination-exit-code") ?? terminatedCode(pod),
  };
}

/** Errors in the annotations of a simulated pod. */
export function behaviourProblems({ metadata }: Pod): readonly string[] {
  const problems: string[] = [];
  for (const [key, text] of Object.entries(metadata.annotations ?? {})) {
    if (!isSimulatedAnnotation(key)) continue;
    const name = key.slice(key.indexOf("/") + 1);
    if (DURATIONS.includes(name)) {
      if (findSimulatedMs(text) === undefined)
        problems.push(`${key}: expected a duration, found ${quote(text)}`);
    } else if (NUMBERS.includes(name)) {
      if (!isNumber(text)) problems.push(`${key}: expected a number, found ${quote(text)}`);
    } else if (PARSERS.has(name)) problems.push(...parseProblems(key, name, text));
    else if (!TEXTS.includes(name)) problems.push(`${key}: unknown annotation`);
  }
  return problems;
}

function parseProblems(key: string, name: string, text: string): readonly string[] {
  try {
    PARSERS.get(name)?.(text);
    return [];
  } catch (error) {
    return [`${key}: ${errorText(error)}`];
  }
}

/** Whether annotations set the readiness of a container that has no readiness probe. */
export function hasAnnotatedReadiness(pod: Pod, { name }: Container): boolean {
  return (
    isAnnotated(pod) &&
    (findSimulated(pod, name, "ready-after") ?? findSimulated(pod, name, "unready-after")) !== undefined
  );
}

function defaultBehaviour(simple: SimpleCommand | undefined, pod: Pod, container: Container): Behaviour {
  return {
    pullMs: PULL_MS,
    pullFailure: undefined,
    startMs: START_MS,
    exit: simple?.run.afterMs === Infinity ? undefined : simple?.run,
    files: simple?.files ?? NO_FILES,
    output: simple?.output ?? [],
    exitTimes: Infinity,
    startup: simulatedProbe(container.startupProbe, container),
    readiness: simulatedProbe(container.readinessProbe, container),
    liveness: simulatedProbe(container.livenessProbe, container),
    terminationMs: 0,
    terminationCode: terminatedCode(pod),
  };
}

function isAnnotated({ metadata }: Pod): boolean {
  for (const key in metadata.annotations) if (isSimulatedAnnotation(key)) return true;
  return false;
}

function simpleCommandOf(pod: Pod, container: Container, isThere: FileView): SimpleCommand | undefined {
  const words = wordsOf(pod, container, isThere);
  const simple = words.length === 0 ? findImageRun(container) : findSimpleCommand(words);
  if (simple !== undefined) return simple;
  return hasAnEnd(pod, container) ? { ...NOTHING, run: { afterMs: TASK_MS, exitCode: 0 } } : undefined;
}

/** Words of its command, after choices with known values are resolved. */
function wordsOf(pod: Pod, container: Container, isThere: FileView): readonly string[] {
  const words = [...(container.command ?? []), ...(container.args ?? [])];
  if (!words.some(mayHaveConditions)) return words;
  const environment = environmentOf(pod, container);
  const user = container.securityContext?.runAsUser ?? pod.spec.securityContext?.runAsUser;
  return words.map((word) => {
    const text = user === undefined ? word : word.replaceAll("$(id -u)", String(user));
    return resolveConditions(expand(text, environment) ?? text, { environment, isThere });
  });
}

/** The pause image, which every Kubernetes node has, never ends. */
function findImageRun({ image = "" }: Container): SimpleCommand | undefined {
  const isPause = /(?:^|\/)pause(?:[:@]|$)/.test(image);
  return isPause ? { ...NOTHING, run: { afterMs: Infinity, exitCode: 0 } } : undefined;
}

/** True for a task: an init container, a container of a Job, or a command that deletes files. */
function hasAnEnd(pod: Pod, container: Container): boolean {
  if (isSidecar(container) && isInit(pod, container)) return false;
  if (container.args?.some((word) => DELETION.test(word)) === true) return true;
  return isInit(pod, container) || controllerOf(pod)?.kind === "Job";
}

function isInit({ spec }: Pod, { name }: Container): boolean {
  return spec.initContainers?.some((each) => each.name === name) ?? false;
}

/**
 * An exit code alone changes only the code. If the command states no end either, the container exits at once.
 */
function exitOf(pod: Pod, container: Container, simple: CommandRun | undefined): CommandRun | undefined {
  const afterMs = durationOf(pod, container, "exit-after");
  const exitCode = numberOf(pod, container, "exit-code");
  if (afterMs === Infinity) return undefined;
  if (afterMs === undefined && exitCode === undefined) return simple;
  return {
    afterMs: afterMs ?? simple?.afterMs ?? 0,
    exitCode: exitCode ?? (afterMs === undefined ? (simple?.exitCode ?? 0) : 0),
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
