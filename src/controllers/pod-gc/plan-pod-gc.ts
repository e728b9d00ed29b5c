/** Finds pods that no other component will end or delete. Pure. */
import type { Node, Pod } from "../../api/generated/types/core-v1.ts";

/** Upper bound of ended pods, which are kept for inspection; upstream's default. */
const TERMINATED_MAX = 12_500;
const OUT_OF_SERVICE = "node.kubernetes.io/out-of-service";

export interface PodGcState {
  /** Includes all candidates, and all pods of the gone nodes. */
  readonly pods: readonly Pod[];
  readonly findNode: (name: string) => Node | undefined;
  /** Nodes that the server confirmed to be gone. */
  readonly goneNodes: ReadonlySet<string>;
}

export interface Victim {
  readonly pod: Pod;
  readonly why: "terminated" | "out of service" | "orphaned" | "unscheduled";
}

/** Each pod once, in order of deletion. */
export function planPodGc({ pods, findNode, goneNodes }: PodGcState): readonly Victim[] {
  const reasons = new Map<Pod, Victim["why"]>();
  for (const pod of surplus(pods.filter(isTerminated), TERMINATED_MAX)) reasons.set(pod, "terminated");
  for (const pod of pods) {
    const why = reasonForRemoval(pod, findNode, goneNodes);
    if (why !== undefined && !reasons.has(pod)) reasons.set(pod, why);
  }
  return [...reasons].map(([pod, why]) => ({ pod, why }));
}

/** True for a pod that has ended or is being deleted. Other pods are deleted only with their node. */
export function isCandidate(pod: Pod): boolean {
  return pod.metadata.deletionTimestamp !== undefined || isTerminated(pod);
}

export interface BoundNodes {
  /** Names of the nodes that pods are bound to. */
  readonly names: Iterable<string>;
  readonly findNode: (name: string) => Node | undefined;
}

/** Names of nodes that pods are bound to and the cache lacks. */
export function missingNodes({ names, findNode }: BoundNodes): ReadonlySet<string> {
  const missing = new Set<string>();
  for (const name of names) if (name !== "" && findNode(name) === undefined) missing.add(name);
  return missing;
}

function reasonForRemoval(
  pod: Pod,
  findNode: PodGcState["findNode"],
  goneNodes: ReadonlySet<string>,
): Victim["why"] | undefined {
  const { nodeName = "" } = pod.spec;
  if (goneNodes.has(nodeName)) return "orphaned";
  if (pod.metadata.deletionTimestamp === undefined) return undefined;
  if (nodeName === "") return "unscheduled";
  const node = findNode(nodeName);
  return node !== undefined && isOutOfService(node) ? "out of service" : undefined;
}

function isTerminated({ status: { phase = "Pending" } }: Pod): boolean {
  return phase !== "Pending" && phase !== "Running" && phase !== "Unknown";
}

/** Evicted pods first, as no owner counts on them; then the oldest. */
function surplus(terminated: readonly Pod[], max: number): readonly Pod[] {
  if (terminated.length <= max) return [];
  return terminated.toSorted(byEvictionAndAge).slice(0, terminated.length - max);
}

function byEvictionAndAge(left: Pod, right: Pod): number {
  const [leftEvicted, rightEvicted] = [isEvicted(left), isEvicted(right)];
  if (leftEvicted !== rightEvicted) return leftEvicted ? -1 : 1;
  const [leftTime, rightTime] = [left.metadata.creationTimestamp, right.metadata.creationTimestamp];
  if (leftTime !== rightTime) return leftTime < rightTime ? -1 : 1;
  return left.metadata.name < right.metadata.name ? -1 : 1;
}

function isEvicted({ status: { phase, reason } }: Pod): boolean {
  return phase === "Failed" && reason === "Evicted";
}

function isOutOfService({ spec, status }: Node): boolean {
  const isReady = (status.conditions ?? []).some(({ type, status: is }) => type === "Ready" && is === "True");
  return !isReady && (spec.taints ?? []).some(({ key }) => key === OUT_OF_SERVICE);
}
