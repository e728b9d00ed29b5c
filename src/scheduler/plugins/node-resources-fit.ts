/** Restricts pods to nodes with enough resources, and prefers those with the most left. */

import type { DeviceClass } from "../../api/generated/types/resource-v1.ts";
import { EVERY_CLASS } from "../../resources/device/extended-resource.ts";
import type { CacheReader } from "../../runtime/controller/controller.ts";
import { SCORE_MAX } from "../framework/normal-score.ts";
import type { PluginFactory, Rejection } from "../framework/scheduler-plugin.ts";
import { isNothing } from "../snapshot/amounts.ts";
import type { NodeInfo } from "../snapshot/node-info.ts";
import type { PodInfo } from "../snapshot/pod-info.ts";
import type { PodShape } from "../snapshot/pod-shape.ts";
import { classesProviding } from "./dynamic-resources/device-class-names.ts";

export const nodeResourcesFit: PluginFactory = ({ cache }) => ({
  name: "NodeResourcesFit",
  scope: "node",
  queueingHints: {
    nodeAdded: (pod, { node }) => fits(pod, node, cache),
    nodeAllocatable: (pod, { node }) => fits(pod, node, cache),
    podFreed: (pod, { node }) => node !== undefined && fits(pod, node, cache),
    deviceClass: (pod, { before, after }) => after !== undefined && isNewlyProvided(pod, before, after),
  },
  filter: ({ pod }) => {
    const classes = classesProviding(pod.shape, cache);
    return { type: "check", check: (node) => findShortage(pod.shape, node, classes) };
  },
  score: ({ pod }) => ({ normal: "none", score: (node) => leastAllocated(pod.shape, node) }),
});

function fits({ shape }: PodInfo, node: NodeInfo, cache: CacheReader): boolean {
  return findShortage(shape, node, classesProviding(shape, cache)) === undefined;
}

/** The class newly provides an extended resource that the pod requests. */
function isNewlyProvided({ shape }: PodInfo, before: DeviceClass | undefined, after: DeviceClass): boolean {
  const { others } = shape.requests;
  if (before === undefined && others.has(EVERY_CLASS + after.metadata.name)) return true;
  const { extendedResourceName: name } = after.spec;
  return name !== undefined && name !== before?.spec.extendedResourceName && others.has(name);
}

/** Equal rejections are shared: a full cluster has the same one on each node. */
const shortages = new Map<string, Rejection>();
const SHORTAGES_MAX = 1024;

/**
 * Finds the resources that the node lacks. Deleting pods helps only if the node's total suffices. A resource that a device class provides
 * is skipped on nodes without it: the node may have devices.
 */
function findShortage(
  { requests }: PodShape,
  node: NodeInfo,
  classes: ReadonlyMap<string, DeviceClass>,
): Rejection | undefined {
  const { allocatable, requested, pods, allowedPods } = node;
  const isFull = pods.size + 1 > allowedPods;
  if (!isFull && isNothing(requests)) return undefined;
  const reasons: string[] = isFull ? ["Too many pods"] : [];
  let isResolvable = !isFull || allowedPods > 0;
  const compare = (
    name: string,
    wanted: number,
    sums: { readonly all: number; readonly used: number },
  ): void => {
    if (wanted === 0 || wanted <= sums.all - sums.used) return;
    reasons.push(`Insufficient ${name}`);
    if (wanted > sums.all) isResolvable = false;
  };
  compare("cpu", requests.milliCpu, { all: allocatable.milliCpu, used: requested.milliCpu });
  compare("memory", requests.memory, { all: allocatable.memory, used: requested.memory });
  compare("ephemeral-storage", requests.ephemeralStorage, {
    all: allocatable.ephemeralStorage,
    used: requested.ephemeralStorage,
  });
  for (const [name, wanted] of requests.others) {
    const all = allocatable.others.get(name) ?? 0;
    if (all === 0 && classes.has(name)) continue;
    compare(name, wanted, { all, used: requested.others.get(name) ?? 0 });
  }
  return reasons.length === 0 ? undefined : shortage(reasons, isResolvable);
}

function shortage(reasons: readonly string[], isResolvable: boolean): Rejection {
  const text = `${String(isResolvable)} ${reasons.join()}`;
  const known = shortages.get(text);
  if (known !== undefined) return known;
  const rejection: Rejection = { plugin: "NodeResourcesFit", reasons, isResolvable };
  if (shortages.size >= SHORTAGES_MAX) shortages.clear();
  shortages.set(text, rejection);
  return rejection;
}

/** Average share of cpu and memory left after placing the pod. */
function leastAllocated({ assumed }: PodShape, node: NodeInfo): number {
  const { milliCpu, memory } = node.allocatable;
  const resources = (milliCpu > 0 ? 1 : 0) + (memory > 0 ? 1 : 0);
  if (resources === 0) return 0;
  const cpuScore = shareLeft(milliCpu, node.assumedMilliCpu + assumed.milliCpu);
  const memoryScore = shareLeft(memory, node.assumedMemory + assumed.memory);
  return Math.floor((cpuScore + memoryScore) / resources);
}

function shareLeft(all: number, used: number): number {
  return all <= 0 || used > all ? 0 : Math.floor(((all - used) * SCORE_MAX) / all);
}
