/** Table row of a pod. Its status column prefers the states of containers over the phase. */

import type { ContainerState, ContainerStatus, Pod } from "../../api/generated/types/core-v1.ts";
import { ageText, findTimeMs, humanDuration } from "../rules/human-duration.ts";
import type { RowCondition } from "../rules/kind-rules.ts";
import { isSidecar } from "./pod-resources.ts";
import { hasCondition, isTerminal } from "./pod-state.ts";

/** The node lifecycle controller sets this reason when a node stops responding. */
const NODE_LOST = "NodeLost";

export function podCells(pod: Pod, now: number): readonly string[] {
  const { spec, status, metadata } = pod;
  const summary = summarize(pod);
  const sidecars = (spec.initContainers ?? []).filter(isSidecar).length;
  const gates = spec.readinessGates ?? [];
  const open = gates.filter(({ conditionType }) => hasCondition(pod, conditionType)).length;
  return [
    metadata.name,
    `${summary.ready}/${spec.containers.length + sidecars}`,
    shownReason(pod, summary.reason),
    restartsText(summary, now),
    ageText(pod, now),
    status.podIPs?.[0]?.ip ?? status.podIP ?? "<none>",
    spec.nodeName ?? "<none>",
    status.nominatedNodeName ?? "<none>",
    gates.length === 0 ? "<none>" : `${open}/${gates.length}`,
  ];
}

const COMPLETED = { type: "Completed", status: "True" };

/** Clients may hide rows with the condition Completed. */
export function podRowConditions({ status }: Pod): readonly RowCondition[] {
  if (status.phase === "Succeeded")
    return [{ ...COMPLETED, reason: "Succeeded", message: "The pod has completed successfully." }];
  if (status.phase === "Failed") return [{ ...COMPLETED, reason: "Failed", message: "The pod failed." }];
  return [];
}

interface Restarts {
  readonly count: number;
  /** When a restarted container last ended. */
  readonly lastMs: number | undefined;
}

interface Summary {
  readonly reason: string;
  readonly ready: number;
  readonly restarts: Restarts;
}

function summarize(pod: Pod): Summary {
  const initial = initSummary(pod);
  const isInitialized = hasCondition(pod, "Initialized");
  if (initial.state === "initializing" && !isInitialized) return initial;
  return mainSummary(pod, initial);
}

interface InitSummary extends Summary {
  readonly state: "initializing" | "initialized";
  /** Statuses of the sidecars before the pending container. */
  readonly sidecars: readonly ContainerStatus[];
}

/** Init containers run one after the other. The row shows the first that is not done. */
function initSummary(pod: Pod): InitSummary {
  const { initContainers = [] } = pod.spec;
  const names = new Set(initContainers.filter(isSidecar).map(({ name }) => name));
  const statuses = pod.status.initContainerStatuses ?? [];
  const isDone = (status: ContainerStatus): boolean =>
    status.state.terminated?.exitCode === 0 || (names.has(status.name) && status.started === true);
  const pending = statuses.findIndex((status) => !isDone(status));
  const reached = pending < 0 ? statuses : statuses.slice(0, pending + 1);
  const sidecars = reached.filter(({ name }) => names.has(name));
  const isReady = (status: ContainerStatus): boolean =>
    isDone(status) && status.ready && status.state.terminated?.exitCode !== 0;
  const ready = sidecars.filter(isReady).length;
  const status = statuses[pending];
  if (status === undefined) {
    const restarts = restartsOf(sidecars);
    return { state: "initialized", reason: phaseReason(pod), ready, restarts, sidecars };
  }
  const reason = initReason(status.state) ?? `Init:${pending}/${initContainers.length}`;
  return { state: "initializing", reason, ready, restarts: restartsOf(reached), sidecars };
}

function initReason({ terminated, waiting }: ContainerState): string | undefined {
  if (terminated !== undefined) return `Init:${endText(terminated)}`;
  const reason = waiting?.reason ?? "";
  return reason === "" || reason === "PodInitializing" ? undefined : `Init:${reason}`;
}

/** Shows the reason of the first container that has one. */
function mainSummary(pod: Pod, initial: InitSummary): Summary {
  const statuses = pod.status.containerStatuses ?? [];
  const running = statuses.filter(({ ready, state }) => ready && state.running !== undefined);
  const reasons = statuses.map(({ state }) => stateReason(state)).filter((reason) => reason !== undefined);
  const restarts = restartsOf([...initial.sidecars, ...statuses]);
  const ready = initial.ready + running.length;
  const reason = reasons[0] ?? (initial.state === "initializing" ? initial.reason : phaseReason(pod));
  if (reason !== "Completed" || running.length === 0) return { reason, ready, restarts };
  return { reason: hasCondition(pod, "Ready") ? "Running" : "NotReady", ready, restarts };
}

function stateReason({ waiting, terminated }: ContainerState): string | undefined {
  if (waiting?.reason !== undefined) return waiting.reason;
  return terminated === undefined ? undefined : endText(terminated);
}

function endText({ reason, signal = 0, exitCode }: NonNullable<ContainerState["terminated"]>): string {
  if (reason !== undefined) return reason;
  return signal === 0 ? `ExitCode:${exitCode}` : `Signal:${signal}`;
}

function phaseReason({ status }: Pod): string {
  const isGated = (status.conditions ?? []).some(
    ({ type, reason }) => type === "PodScheduled" && reason === "SchedulingGated",
  );
  return isGated ? "SchedulingGated" : (status.reason ?? status.phase ?? "");
}

function shownReason(pod: Pod, reason: string): string {
  if (pod.metadata.deletionTimestamp === undefined) return reason;
  if (pod.status.reason === NODE_LOST) return "Unknown";
  return isTerminal(pod) ? reason : "Terminating";
}

function restartsOf(statuses: readonly ContainerStatus[]): Restarts {
  let count = 0;
  let lastMs: number | undefined;
  for (const { restartCount, lastState } of statuses) {
    count += restartCount;
    const endMs = findTimeMs(lastState.terminated?.finishedAt);
    if (endMs !== undefined && endMs > (lastMs ?? -Infinity)) lastMs = endMs;
  }
  return { count, lastMs };
}

function restartsText({ restarts: { count, lastMs } }: Summary, now: number): string {
  return count === 0 || lastMs === undefined ? `${count}` : `${count} (${humanDuration(now - lastMs)} ago)`;
}
