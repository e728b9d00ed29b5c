/** Usage of a pod that is not terminal: the pod itself, and its requests and limits. */
import type { Pod, PodSpec } from "../../api/generated/types/core-v1.ts";
import { isDeviceResource } from "../device/extended-resource.ts";
import { isTerminal } from "../pod/pod-state.ts";
import { podTotalsWithOverhead } from "../pod/pod-totals.ts";
import type { ResourceList } from "../rules/resource-amount.ts";
import { isHugePages } from "../rules/resource-name.ts";

const COMPUTE = ["cpu", "memory", "ephemeral-storage"];
/** Resources that each container must set when a quota bounds them. */
const DEMANDED: ReadonlySet<string> = new Set([
  "cpu",
  "memory",
  "requests.cpu",
  "requests.memory",
  "limits.cpu",
  "limits.memory",
]);

/** A terminal pod uses nothing but its `count/pods`. */
export function podUsage(pod: Pod, now: number): ResourceList {
  if (isTerminal(pod) || isOverdue(pod, now)) return {};
  const { requests, limits } = podTotalsWithOverhead(pod.spec);
  return { pods: "1", ...amounts(requests, limits) };
}

/** A pod far beyond its grace period runs on a lost node; its resources are free for other pods. */
function isOverdue({ metadata }: Pod, now: number): boolean {
  const { deletionTimestamp, deletionGracePeriodSeconds } = metadata;
  if (deletionTimestamp === undefined || deletionGracePeriodSeconds === undefined) return false;
  return now > Date.parse(deletionTimestamp) + deletionGracePeriodSeconds * 1000;
}

function amounts(requests: ResourceList, limits: ResourceList): ResourceList {
  const used: Record<string, string> = {};
  for (const [name, text] of Object.entries(requests)) {
    if (COMPUTE.includes(name) || isHugePages(name)) used[name] = text;
    if (COMPUTE.includes(name) || isHugePages(name) || isDeviceResource(name)) {
      used[`requests.${name}`] = text;
    }
  }
  for (const [name, text] of Object.entries(limits)) {
    if (COMPUTE.includes(name)) used[`limits.${name}`] = text;
  }
  return used;
}

/** Text about containers that lack a bounded resource; undefined when none does. */
export function missingAmounts({ spec }: Pod, bounded: Iterable<string>): string | undefined {
  const demanded = [...bounded].filter((name) => DEMANDED.has(name) && !isGivenForPod(spec, name)).toSorted();
  if (demanded.length === 0) return undefined;
  const containers = [...spec.containers, ...(spec.initContainers ?? [])];
  const lacking = demanded.flatMap((name) => {
    const names = containers
      .filter(
        ({ resources }) => !Object.hasOwn(amounts(resources.requests ?? {}, resources.limits ?? {}), name),
      )
      .map((container) => container.name);
    return names.length === 0 ? [] : [`${name} for: ${names.toSorted().join(",")}`];
  });
  return lacking.length === 0 ? undefined : `must specify ${lacking.join("; ")}`;
}

function isGivenForPod({ resources }: PodSpec, name: string): boolean {
  return Object.hasOwn(amounts(resources?.requests ?? {}, resources?.limits ?? {}), name);
}
