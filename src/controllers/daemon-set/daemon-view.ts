/** Observed state of a DaemonSet: the fitness of each node, and the set's pods on it. */
import type { DaemonSet } from "../../api/generated/types/apps-v1.ts";
import type { Node, Pod } from "../../api/generated/types/core-v1.ts";
import { isAvailable, isTerminal } from "../../resources/pod/pod-state.ts";
import { scaledValue } from "../../resources/rules/int-or-percent.ts";
import { findTemplateGeneration } from "../../resources/workloads/template-generation.ts";
import { REVISION_HASH } from "../revisions/revisions.ts";
import { fitnessFor, nodeOf, TEMPLATE_GENERATION } from "./daemon-pods.ts";
import type { Fitness } from "./daemon-pods.ts";

export interface DaemonView {
  readonly set: DaemonSet;
  readonly now: number;
  /** Hash of the current template. */
  readonly hash: string;
  /** Sorted by node name. */
  readonly places: readonly DaemonNode[];
  /** Unbound pods whose node no longer exists. */
  readonly lost: readonly Pod[];
}

export interface DaemonNode {
  readonly node: string;
  readonly fitness: Fitness;
  /** Bound pods first, then oldest first. */
  readonly pods: readonly Pod[];
}

export function viewOf(
  set: DaemonSet,
  { nodes, pods }: { readonly nodes: readonly Node[]; readonly pods: readonly Pod[] },
  { hash, now }: Pick<DaemonView, "hash" | "now">,
): DaemonView {
  const byNode = groupByNode(pods.filter(isThere));
  const fitness = fitnessFor(set);
  const places = nodes.map((node) => ({
    node: node.metadata.name,
    fitness: fitness(node),
    pods: (byNode.get(node.metadata.name) ?? []).toSorted(compareUse),
  }));
  const known = new Set(places.map(({ node }) => node));
  const lost = pods.filter(
    (pod) => (pod.spec.nodeName ?? "") === "" && !known.has(nodeOf(pod) ?? "") && !isBeingDeleted(pod),
  );
  return { set, now, hash, places, lost };
}

function groupByNode(pods: readonly Pod[]): ReadonlyMap<string, readonly Pod[]> {
  const groups = new Map<string, Pod[]>();
  for (const pod of pods) {
    const node = nodeOf(pod) ?? "";
    const group = groups.get(node);
    if (group === undefined) groups.set(node, [pod]);
    else group.push(pod);
  }
  return groups;
}

/** A terminated pod that is being deleted no longer occupies its node. */
function isThere(pod: Pod): boolean {
  return !(isTerminal(pod) && isBeingDeleted(pod));
}

export function isBeingDeleted({ metadata }: Pod): boolean {
  return metadata.deletionTimestamp !== undefined;
}

/** A bound pod is worth more than a pending one. */
function compareUse(left: Pod, right: Pod): number {
  const isWaiting = ({ spec }: Pod): boolean => (spec.nodeName ?? "") === "";
  return (
    Number(isWaiting(left)) - Number(isWaiting(right)) ||
    Date.parse(left.metadata.creationTimestamp) - Date.parse(right.metadata.creationTimestamp) ||
    (left.metadata.name < right.metadata.name ? -1 : 1)
  );
}

/** Either label suffices: pods that another controller created may lack the hash. */
export function isUpdated({ metadata }: Pod, { hash, set }: Pick<DaemonView, "hash" | "set">): boolean {
  const { [REVISION_HASH]: hashOfPod, [TEMPLATE_GENERATION]: generation } = metadata.labels ?? {};
  return hashOfPod === hash || (generation !== undefined && generation === findTemplateGeneration(set));
}

export function isUsable(pod: Pod, { set, now }: Pick<DaemonView, "set" | "now">): boolean {
  return isAvailable(pod, set.spec.minReadySeconds ?? 0, now);
}

/**
 * Number of nodes that may have two pods, or none, during an update. At least one of the two is positive, else the update could not start.
 */
export function bounds({ set, places }: DaemonView): {
  readonly surge: number;
  readonly unavailable: number;
} {
  const desired = places.filter(({ fitness }) => fitness === "fits").length;
  const { maxSurge, maxUnavailable } = set.spec.updateStrategy.rollingUpdate ?? {};
  const surge = scaledValue(maxSurge, desired, "up");
  const unavailable = scaledValue(maxUnavailable, desired, "up");
  return { surge, unavailable: desired > 0 && surge + unavailable === 0 ? 1 : unavailable };
}

export function allowsSurge({ set }: Pick<DaemonView, "set">): boolean {
  const { type, rollingUpdate } = set.spec.updateStrategy;
  return type !== "OnDelete" && scaledValue(rollingUpdate?.maxSurge, 100, "up") > 0;
}
