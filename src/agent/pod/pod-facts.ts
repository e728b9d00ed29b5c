/** Everything that decisions about a pod are made from, and what is plain to see in it. */
import type { Container, Pod, Probe } from "../../api/generated/types/core-v1.ts";
import { isTerminal } from "../../resources/pod/pod-state.ts";
import type { ProbeType } from "../container-runtime.ts";
import type { Finding } from "./config-needs.ts";
import { NEW_CONTAINER, type ContainerRecord, type Exit, type Verdict } from "./container-record.ts";
import type { SizeProblem } from "./granted-size.ts";
import { judgeProbe, type Judgement } from "./probe-verdict.ts";
import { containersOf, restarts, restartsAll, type RoleContainer } from "./restart-rules.ts";

export interface PodFacts {
  /** With the sizes that its node has granted. */
  readonly pod: Pod;
  /** By name; what is not there is new. */
  readonly records: ReadonlyMap<string, ContainerRecord>;
  /** When the node took the pod. */
  readonly acceptedAt: number;
  /** Of its node, one of each family. */
  readonly hostAddresses: readonly string[];
  /** What the pod has, or will have once it has a sandbox. */
  readonly addresses: readonly string[];
  /** Set when the node refused it. */
  readonly refusal: Refusal | undefined;
  /** Set while it asks for a size that its node does not grant. */
  readonly sizeProblem: SizeProblem | undefined;
  /** Set while something has to be there before anything of the pod is started. */
  readonly hold: Hold | undefined;
  readonly probeOf: (container: Container, type: ProbeType) => Probe | undefined;
  readonly hasImage: (container: Container) => boolean;
  /** Bytes; 0 while it does not run. */
  readonly memoryUsedBy: (container: Container) => number;
  /** Whether the container's environment is made of other objects as well. */
  readonly hasOutsideEnvironment: (container: Container) => boolean;
  /** Of these objects, as they are at `since` or later. */
  readonly judgeEnvironment: (container: Container, since: number) => Finding;
}

export interface Hold {
  /** When it is looked at again; undefined when that is told in another way. */
  readonly tryAt: number | undefined;
}

export interface Refusal {
  readonly reason: string;
  readonly message: string;
}

/** Why a pod no longer runs, or shall not. */
export type Ending =
  | { readonly type: "refused"; readonly refusal: Refusal }
  | { readonly type: "deleted"; readonly graceMs: number }
  | { readonly type: "deadline" }
  /** Nothing of it shall run again: its work is done, or has failed for good, or somebody else has said so. */
  | { readonly type: "finished" };

export function recordOf({ records }: PodFacts, name: string): ContainerRecord {
  return records.get(name) ?? NEW_CONTAINER;
}

export function findEnding(facts: PodFacts, now: number): Ending | undefined {
  const { pod, refusal } = facts;
  if (refusal !== undefined) return { type: "refused", refusal };
  const { deletionTimestamp, deletionGracePeriodSeconds = 0 } = pod.metadata;
  if (deletionTimestamp !== undefined) return { type: "deleted", graceMs: deletionGracePeriodSeconds * 1000 };
  if (isTerminal(pod)) return { type: "finished" };
  const deadlineAt = findDeadline(facts);
  if (deadlineAt !== undefined && now >= deadlineAt) return { type: "deadline" };
  if (findRestartOfAll(facts) !== undefined) return undefined;
  return isFinished(facts) ? { type: "finished" } : undefined;
}

/** The container whose end makes all start anew, until they can. */
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

/** Whether the end of a run is followed by another one. */
export function isRunAgain({ pod }: Pick<PodFacts, "pod">, each: RoleContainer, exit: Exit): boolean {
  return exit.isReplaced === true || restarts(pod, each, exit.exitCode);
}

export interface ProbePlace {
  readonly container: Container;
  readonly type: ProbeType;
}

/** Of a probe that the container does not have, `passes`. */
export function judge(facts: PodFacts, { container, type }: ProbePlace, now: number): Judgement {
  const probe = facts.probeOf(container, type);
  if (probe === undefined) return { verdict: "passes", changesAt: undefined };
  const { phase } = recordOf(facts, container.name);
  return judgeProbe(phase.type === "running" ? phase.probes[type] : undefined, probe, now);
}

export function verdictOf(facts: PodFacts, place: ProbePlace, now: number): Verdict {
  return judge(facts, place, now).verdict;
}

/** Runs, and its startup probe has passed. */
export function isStarted(facts: PodFacts, container: Container, now: number): boolean {
  const isUp = recordOf(facts, container.name).phase.type === "running";
  return isUp && verdictOf(facts, { container, type: "startup" }, now) === "passes";
}

export function isContainerReady(facts: PodFacts, container: Container, now: number): boolean {
  return (
    isStarted(facts, container, now) && verdictOf(facts, { container, type: "readiness" }, now) === "passes"
  );
}

/**
 * A container has ended to run with another image, and does not run yet. Until it does, or fails to, the pod is shown as it was: kubelet does not
 * look up from such work either, and nobody shall take it for a failure.
 */
export function isReplacing({ records }: PodFacts): boolean {
  for (const { phase, exit } of records.values()) {
    if (exit?.isReplaced === true && phase.type !== "running" && phase.type !== "unpullable") return true;
  }
  return false;
}

/** The pod's network is up: something of it has run, or has failed to. */
export function hasSandbox({ records }: PodFacts): boolean {
  for (const { phase, exit } of records.values()) {
    if (phase.type === "running" || phase.type === "unpullable" || exit !== undefined) return true;
  }
  return false;
}
