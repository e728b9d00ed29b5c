/** The input of all decisions about a pod, and simple predicates on it. */
import type { Container, Pod, Probe } from "../../api/generated/types/core-v1.ts";
import { isTerminal } from "../../resources/pod/pod-state.ts";
import type { ProbeType } from "../runtime-handler.ts";
import type { ConfigFinding } from "./config-needs.ts";
import { NEW_CONTAINER, type ContainerRecord, type Exit, type ProbeStatus } from "./container-record.ts";
import type { SizeProblem } from "./granted-size.ts";
import { assessProbe, type ProbeAssessment } from "./probe-status.ts";
import { containersOf, restarts, restartsAll, type RoleContainer } from "./restart-policy.ts";

export interface PodFacts {
  /** Has the granted resources. */
  readonly pod: Pod;
  /** Keyed by name; an absent record means a new container. */
  readonly records: ReadonlyMap<string, ContainerRecord>;
  /** Time at which the node accepted the pod. */
  readonly acceptedAt: number;
  /** Addresses of the node, one of each family. */
  readonly hostAddresses: readonly string[];
  /** Addresses of the pod, or of its future sandbox. */
  readonly addresses: readonly string[];
  /** Set when the node rejected the pod. */
  readonly rejection: PodRejection | undefined;
  /** Set while the node does not grant the requested size. */
  readonly sizeProblem: SizeProblem | undefined;
  /** Set while the pod waits for its preparation. */
  readonly hold: Hold | undefined;
  readonly probeOf: (container: Container, type: ProbeType) => Probe | undefined;
  /** The memory in use is not known yet. */
  readonly isMeasuring: boolean;
  /** Bytes; 0 while the container does not run. */
  readonly memoryUsedBy: (container: Container) => number;
  /** Whether the environment uses ConfigMaps or Secrets. */
  readonly hasOutsideEnvironment: (container: Container) => boolean;
  /** Checks the environment's objects, in their state at `since` or later. */
  readonly checkEnvironment: (container: Container, since: number) => ConfigFinding;
}

export interface Hold {
  /** Time of the next check; undefined when an event triggers it. */
  readonly tryAt: number | undefined;
}

export interface PodRejection {
  readonly reason: string;
  readonly message: string;
}

/** Why a pod no longer runs, or must end. */
export type PodTermination =
  | { readonly type: "rejected"; readonly rejection: PodRejection }
  | { readonly type: "deleted"; readonly graceMs: number }
  | { readonly type: "deadline" }
  /**
   * No container will run again: all completed, one failed permanently, or another client set a terminal
   * phase.
   */
  | { readonly type: "finished" };

export function recordOf({ records }: PodFacts, name: string): ContainerRecord {
  return records.get(name) ?? NEW_CONTAINER;
}

export function findTermination(facts: PodFacts, now: number): PodTermination | undefined {
  const { pod, rejection } = facts;
  if (rejection !== undefined) return { type: "rejected", rejection };
  const { deletionTimestamp, deletionGracePeriodSeconds = 0 } = pod.metadata;
  if (deletionTimestamp !== undefined) return { type: "deleted", graceMs: deletionGracePeriodSeconds * 1000 };
  if (isTerminal(pod)) return { type: "finished" };
  const deadlineAt = findDeadline(facts);
  if (deadlineAt !== undefined && now >= deadlineAt) return { type: "deadline" };
  if (findRestartOfAll(facts) !== undefined) return undefined;
  return isFinished(facts) ? { type: "finished" } : undefined;
}

/** The container whose exit restarts all others, until the restart is done. */
export function findRestartOfAll(facts: PodFacts): ContainerRecord | undefined {
  for (const each of containersOf(facts.pod)) {
    if (each.container.restartPolicyRules === undefined) continue;
    const record = recordOf(facts, each.container.name);
    const { phase, exit } = record;
    const hasEnded = phase.type === "exited" && exit !== undefined && exit.isReplaced !== true;
    if (hasEnded && restartsAll(each, exit.exitCode)) return record;
  }
  return undefined;
}

export function findDeadline({ pod, acceptedAt }: PodFacts): number | undefined {
  const { activeDeadlineSeconds } = pod.spec;
  return activeDeadlineSeconds === undefined ? undefined : acceptedAt + activeDeadlineSeconds * 1000;
}

function isFinished(facts: PodFacts): boolean {
  let isDone = true;
  for (const each of containersOf(facts.pod)) {
    if (each.role === "sidecar" || each.role === "ephemeral") continue;
    const isOver = hasEndedForGood(facts, each);
    const exitCode = recordOf(facts, each.container.name).exit?.exitCode ?? 0;
    if (each.role === "init" && isOver && exitCode !== 0) return true;
    isDone &&= isOver;
  }
  return isDone;
}

export function hasEndedForGood(facts: PodFacts, each: RoleContainer): boolean {
  const { phase, exit } = recordOf(facts, each.container.name);
  return phase.type === "exited" && exit !== undefined && !isRunAgain(facts, each, exit);
}

/** Whether a new run follows this one. */
export function isRunAgain({ pod }: Pick<PodFacts, "pod">, each: RoleContainer, exit: Exit): boolean {
  return exit.isReplaced === true || restarts(pod, each, exit.exitCode);
}

export interface ProbePlace {
  readonly container: Container;
  readonly type: ProbeType;
}

/** `passes` for an absent probe. */
export function probeAssessmentOf(
  facts: PodFacts,
  { container, type }: ProbePlace,
  now: number,
): ProbeAssessment {
  const probe = facts.probeOf(container, type);
  if (probe === undefined) return { probeStatus: "passes", changesAt: undefined };
  const { phase } = recordOf(facts, container.name);
  return assessProbe(phase.type === "running" ? phase.probes[type] : undefined, probe, now);
}

export function probeStatusOf(facts: PodFacts, place: ProbePlace, now: number): ProbeStatus {
  return probeAssessmentOf(facts, place, now).probeStatus;
}

/** Running, and its startup probe has passed. */
export function isStarted(facts: PodFacts, container: Container, now: number): boolean {
  const isUp = recordOf(facts, container.name).phase.type === "running";
  return isUp && probeStatusOf(facts, { container, type: "startup" }, now) === "passes";
}

export function isContainerReady(facts: PodFacts, container: Container, now: number): boolean {
  return (
    isStarted(facts, container, now) &&
    probeStatusOf(facts, { container, type: "readiness" }, now) === "passes"
  );
}

/**
 * True while a container restarts for another image or size. Meanwhile the status stays unchanged, so that it
 * does not look like a failure. The kubelet also writes no status during this work.
 */
export function isReplacing({ records }: PodFacts): boolean {
  for (const { phase, exit } of records.values()) {
    if (exit?.isReplaced === true && phase.type !== "running" && phase.type !== "unpullable") return true;
  }
  return false;
}

/** The pod's network is up: a container has run, or its start has failed. */
export function hasSandbox({ records }: PodFacts): boolean {
  for (const { phase, exit } of records.values()) {
    if (phase.type === "running" || phase.type === "unpullable" || exit !== undefined) return true;
  }
  return false;
}
