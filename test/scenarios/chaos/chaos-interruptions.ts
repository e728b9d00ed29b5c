/** Whether every service was available all along: a pure function over the history of a run without failing pods and lost nodes. */
import type { ApiObject } from "../../../src/api/api-object.ts";
import type { DaemonSet, Deployment, StatefulSet } from "../../../src/api/generated/types/apps-v1.ts";
import type { Pod } from "../../../src/api/generated/types/core-v1.ts";
import type { PodDisruptionBudget } from "../../../src/api/generated/types/policy-v1.ts";
import { isReady } from "../../../src/resources/pod/pod-state.ts";
import { scaledValue } from "../../../src/resources/rules/int-or-percent.ts";
import type { Change } from "./chaos-history.ts";

const WORKLOADS = ["Deployment", "StatefulSet", "DaemonSet"];
const MAX_FOUND = 20;

/** Starts at the change with this number, when everything was up. */
export function interruptions(changes: readonly Change[], first: number): readonly string[] {
  const found: string[] = [];
  const live = new Map<string, Map<string, ApiObject>>();
  for (const [at, { kind, key, after, revision }] of changes.entries()) {
    const same = live.get(kind) ?? new Map<string, ApiObject>();
    live.set(kind, same);
    if (after === undefined) same.delete(key);
    else same.set(key, after);
    if (at < first || kind !== "Pod" || found.length > MAX_FOUND) continue;
    const when = `(revision ${String(revision)}, ${key})`;
    for (const workload of WORKLOADS.flatMap((each) => [...(live.get(each)?.values() ?? [])]))
      found.push(...shortOf(workload, live).map((what) => `${workload.kind} ${what} ${when}`));
  }
  return found;
}

type Live = ReadonlyMap<string, ReadonlyMap<string, ApiObject>>;

function of<T extends ApiObject>(live: Live, kind: string): readonly T[] {
  return [...(live.get(kind)?.values() ?? [])] as readonly ApiObject[] as readonly T[];
}

function shortOf(workload: ApiObject, live: Live): readonly string[] {
  const { name = "" } = workload.metadata;
  const serving = of<Pod>(live, "Pod").filter((pod) => isServing(pod, name));
  const places = new Set(serving.map(({ spec }) => spec.nodeName));
  const count = workload.kind === "DaemonSet" ? places.size : serving.length;
  const floor = floorOf(workload, live);
  return count < floor ? [`${name} has ${String(count)} that serve, not ${String(floor)}`] : [];
}

/** The label identifies the app everywhere here. */
function isServing(pod: Pod, app: string): boolean {
  const { labels, deletionTimestamp } = pod.metadata;
  return labels?.["app"] === app && deletionTimestamp === undefined && isReady(pod);
}

/** Minimum number of serving pods. */
function floorOf(workload: ApiObject, live: Live): number {
  if (workload.kind === "StatefulSet") return ((workload as StatefulSet).spec.replicas ?? 1) - 1;
  if (workload.kind === "DaemonSet") {
    const nodes = live.get("Node")?.size ?? 0;
    const { maxUnavailable } = (workload as DaemonSet).spec.updateStrategy?.rollingUpdate ?? {};
    return nodes - scaledValue(maxUnavailable, nodes, "up");
  }
  return deploymentFloor(workload as Deployment, of(live, "PodDisruptionBudget"));
}

function deploymentFloor({ metadata, spec }: Deployment, budgets: readonly PodDisruptionBudget[]): number {
  const { replicas = 1 } = spec;
  const budget = budgets.find((each) => each.metadata.name === metadata.name);
  if (budget !== undefined) return spared(budget, replicas);
  const { maxUnavailable, maxSurge } = spec.strategy.rollingUpdate ?? {};
  const missing = scaledValue(maxUnavailable, replicas, "down");
  const isStuck = missing === 0 && scaledValue(maxSurge, replicas, "up") === 0;
  return replicas - (isStuck ? 1 : missing);
}

function spared({ spec: { minAvailable, maxUnavailable } }: PodDisruptionBudget, replicas: number): number {
  return minAvailable === undefined
    ? replicas - scaledValue(maxUnavailable, replicas, "up")
    : scaledValue(minAvailable, replicas, "up");
}
