/**
 * Computes the status fields that the agent owns, as a pure function of its facts. Fields of other writers
 * are not included and stay unchanged.
 */
import type { ContainerStatus, PodCondition, PodStatus } from "../../api/generated/types/core-v1.ts";
import { timeText } from "../../api/values/time.ts";
import { canRestartAll } from "../../resources/pod/container/restart-rules.ts";
import { hasCondition } from "../../resources/pod/pod-state.ts";
import { compareSize } from "./container-size.ts";
import { containerStatus, type StatusMoment } from "./container-status.ts";
import { findShrinkProblem, wholeLimits } from "./memory-shrink.ts";
import { findRestartOfAll, hasSandbox, recordOf, type PodFacts } from "./pod-facts.ts";
import type { PodPlan } from "./pod-plan.ts";
import { containersOf, type ContainerRole } from "./restart-policy.ts";

type Phase = NonNullable<PodStatus["phase"]>;

/** The agent's fields. It leaves conditions of other types to their writers. */
export type OwnStatus = Pick<
  PodStatus,
  | "allocatedResources"
  | "conditions"
  | "containerStatuses"
  | "ephemeralContainerStatuses"
  | "hostIP"
  | "hostIPs"
  | "initContainerStatuses"
  | "message"
  | "observedGeneration"
  | "phase"
  | "podIP"
  | "podIPs"
  | "reason"
  | "resources"
  | "startTime"
>;

/** Conditions that exist only while they are true. */
export const RESIZE_PENDING = "PodResizePending";
export const RESIZE_IN_PROGRESS = "PodResizeInProgress";

/** Reason and message for the final status, and for an immediate Event. */
export const DEADLINE_EXCEEDED = {
  reason: "DeadlineExceeded",
  message: "Pod was active on the node longer than the specified deadline",
};

export function podStatus(facts: PodFacts, plan: PodPlan, now: number): OwnStatus {
  const { pod, acceptedAt } = facts;
  const { generation } = pod.metadata;
  const common = {
    ...(generation !== undefined && { observedGeneration: generation }),
    startTime: timeText(acceptedAt),
  };
  if (plan.termination?.type === "rejected") {
    const { reason, message } = plan.termination.rejection;
    return { ...common, phase: "Failed", reason, message: `Pod was rejected: ${message}` };
  }
  const moment: StatusMoment = { now, hasEnded: plan.hasEnded };
  const lists = statusLists(facts, moment);
  const phase = phaseOf(facts, plan, lists);
  const isLate = plan.termination?.type === "deadline" && plan.hasEnded;
  return {
    ...common,
    ...lists,
    ...addresses(facts),
    ...wholeSize(facts),
    phase,
    ...(isLate && DEADLINE_EXCEEDED),
    conditions: conditionsOf(facts, { lists, phase, hasEnded: plan.hasEnded }),
  };
}

type StatusLists = Pick<
  OwnStatus,
  "containerStatuses" | "initContainerStatuses" | "ephemeralContainerStatuses"
>;

function statusLists(facts: PodFacts, moment: StatusMoment): StatusLists {
  const all = containersOf(facts.pod);
  const of = (...roles: readonly ContainerRole[]): readonly ContainerStatus[] =>
    all
      .filter(({ role }) => roles.includes(role))
      .map((each) => containerStatus(facts, each, moment))
      .toSorted((a, b) => (a.name < b.name ? -1 : 1));
  const { initContainers, ephemeralContainers } = facts.pod.spec;
  return {
    containerStatuses: of("main"),
    // As in the kubelet: init containers are in running order, other lists are sorted.
    ...(initContainers !== undefined && { initContainerStatuses: initStatuses(facts, moment) }),
    ...(ephemeralContainers !== undefined && { ephemeralContainerStatuses: of("ephemeral") }),
  };
}

function initStatuses(facts: PodFacts, moment: StatusMoment): readonly ContainerStatus[] {
  return containersOf(facts.pod)
    .filter(({ role }) => role === "init" || role === "sidecar")
    .map((each) => containerStatus(facts, each, moment));
}

/** Pod-level resources: granted and in effect. */
function wholeSize(facts: PodFacts): Pick<OwnStatus, "allocatedResources" | "resources"> {
  const { resources } = facts.pod.spec;
  if (resources === undefined) return {};
  const { requests } = resources;
  const limits = wholeLimits(facts);
  return {
    ...(requests !== undefined && { allocatedResources: requests }),
    resources: { ...(limits !== undefined && { limits }), ...(requests !== undefined && { requests }) },
  };
}

function addresses(facts: PodFacts): Pick<OwnStatus, "hostIP" | "hostIPs" | "podIP" | "podIPs"> {
  const { hostAddresses, addresses: own } = facts;
  const host = { hostIP: hostAddresses[0] ?? "", hostIPs: hostAddresses.map((ip) => ({ ip })) };
  const [first] = own;
  if (!hasSandbox(facts) || first === undefined) return host;
  return { ...host, podIP: first, podIPs: own.map((ip) => ({ ip })) };
}

/** A terminal phase is final. */
function phaseOf(facts: PodFacts, { termination, hasEnded }: PodPlan, lists: StatusLists): Phase {
  const { phase } = facts.pod.status;
  if (phase === "Succeeded" || phase === "Failed") return phase;
  if (termination?.type === "deadline" && hasEnded) return "Failed";
  const mains = lists.containerStatuses ?? [];
  if (hasEnded) return mains.every(isSuccess) ? "Succeeded" : "Failed";
  if (!isInitialized(facts, lists)) return "Pending";
  const hasNeverRun = mains.some(
    ({ state, lastState }) => state.waiting !== undefined && lastState.terminated === undefined,
  );
  return hasNeverRun ? "Pending" : "Running";
}

function isSuccess({ state }: ContainerStatus): boolean {
  return state.terminated?.exitCode === 0;
}

/**
 * All init containers are done and all sidecars have started. A later restart of a sidecar does not matter.
 */
function isInitialized(facts: PodFacts, lists: StatusLists): boolean {
  return incompleteInit(facts, lists).length === 0;
}

function incompleteInit(facts: PodFacts, { initContainerStatuses = [] }: StatusLists): readonly string[] {
  const hasMoved = facts.pod.spec.containers.some(({ name }) => hasBegun(facts, name));
  if (hasMoved) return [];
  const sidecars = sidecarNames(facts);
  return initContainerStatuses
    .filter(({ name, state, started }) =>
      sidecars.has(name) ? started !== true : state.terminated?.exitCode !== 0,
    )
    .map(({ name }) => name);
}

function hasBegun(facts: PodFacts, name: string): boolean {
  const { phase, exit } = recordOf(facts, name);
  return exit !== undefined || phase.type !== "idle";
}

interface ConditionFacts {
  readonly lists: StatusLists;
  readonly phase: Phase;
  readonly hasEnded: boolean;
}

interface Claim {
  readonly type: string;
  readonly holds: boolean;
  readonly reason?: string;
  readonly message?: string;
}

function conditionsOf(facts: PodFacts, about: ConditionFacts): readonly PodCondition[] {
  const containersReady = containersReadyClaim(facts, about);
  return [
    { type: "PodReadyToStartContainers", holds: hasSandbox(facts) && !about.hasEnded },
    initializedClaim(facts, about),
    readyClaim(facts, containersReady),
    containersReady,
    { type: "PodScheduled", holds: true },
    ...restartingAllClaims(facts, about),
    ...(facts.sizeProblem === undefined ? [] : [{ type: RESIZE_PENDING, holds: true, ...facts.sizeProblem }]),
    ...resizingClaims(facts, about),
  ].map((claim) => conditionOf(facts, claim));
}

/** While a container runs with its old size: it must restart, or uses too much memory. */
function resizingClaims(facts: PodFacts, { hasEnded }: ConditionFacts): readonly Claim[] {
  if (hasEnded || !isGettingSize(facts)) return [];
  const message = findShrinkProblem(facts);
  return [
    { type: RESIZE_IN_PROGRESS, holds: true, ...(message === undefined ? {} : { reason: "Error", message }) },
  ];
}

function isGettingSize(facts: PodFacts): boolean {
  const podLimits = facts.pod.spec.resources?.limits;
  return containersOf(facts.pod).some(({ container }) => {
    const record = recordOf(facts, container.name);
    return record.phase.type === "running" && compareSize(container, record, podLimits) !== "same";
  });
}

/** Only for pods with a rule that can restart all containers. */
function restartingAllClaims(facts: PodFacts, { phase }: ConditionFacts): readonly Claim[] {
  const type = "AllContainersRestarting";
  if (!canRestartAll(facts.pod.spec)) return [];
  if (phase === "Succeeded") return [{ type, holds: false, reason: "PodCompleted" }];
  if (phase === "Failed") return [{ type, holds: false, reason: "PodFailed" }];
  return [{ type, holds: findRestartOfAll(facts) !== undefined }];
}

function initializedClaim(facts: PodFacts, { lists, phase }: ConditionFacts): Claim {
  const type = "Initialized";
  if (phase === "Succeeded") return { type, holds: true, reason: "PodCompleted" };
  const incomplete = incompleteInit(facts, lists);
  if (incomplete.length === 0) return { type, holds: true };
  const message = `containers with incomplete status: [${incomplete.join(" ")}]`;
  return { type, holds: false, reason: "ContainersNotInitialized", message };
}

function containersReadyClaim(facts: PodFacts, { lists, phase }: ConditionFacts): Claim {
  const type = "ContainersReady";
  if (phase === "Succeeded") return { type, holds: false, reason: "PodCompleted" };
  if (phase === "Failed") return { type, holds: false, reason: "PodFailed" };
  const unready = [...sidecarStatuses(facts, lists), ...(lists.containerStatuses ?? [])]
    .filter(({ ready }) => !ready)
    .map(({ name }) => name);
  if (unready.length === 0) return { type, holds: true };
  const message = `containers with unready status: [${unready.join(" ")}]`;
  return { type, holds: false, reason: "ContainersNotReady", message };
}

function sidecarStatuses(
  facts: PodFacts,
  { initContainerStatuses = [] }: StatusLists,
): readonly ContainerStatus[] {
  if (initContainerStatuses.length === 0) return [];
  const sidecars = sidecarNames(facts);
  return initContainerStatuses.filter(({ name }) => sidecars.has(name));
}

function sidecarNames({ pod }: PodFacts): ReadonlySet<string> {
  const sidecars = containersOf(pod).filter(({ role }) => role === "sidecar");
  return new Set(sidecars.map(({ container }) => container.name));
}

function readyClaim({ pod }: PodFacts, containersReady: Claim): Claim {
  if (!containersReady.holds) return { ...containersReady, type: "Ready" };
  const gates = (pod.spec.readinessGates ?? []).flatMap(({ conditionType }) => {
    if (hasCondition(pod, conditionType)) return [];
    const found = (pod.status.conditions ?? []).find(({ type }) => type === conditionType);
    return found === undefined
      ? [`corresponding condition of pod readiness gate "${conditionType}" does not exist.`]
      : [`the status of pod readiness gate "${conditionType}" is not "True", but ${found.status}`];
  });
  if (gates.length === 0) return { type: "Ready", holds: true };
  return { type: "Ready", holds: false, reason: "ReadinessGatesNotReady", message: gates.join(", ") };
}

/** `findStatusPatch` sets `lastTransitionTime` after a comparison with the stored status. */
function conditionOf({ pod }: PodFacts, { type, holds, reason, message }: Claim): PodCondition {
  const { generation } = pod.metadata;
  return {
    ...(message !== undefined && { message }),
    ...(generation !== undefined && { observedGeneration: generation }),
    ...(reason !== undefined && { reason }),
    status: holds ? "True" : "False",
    type,
  };
}
