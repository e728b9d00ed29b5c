/**
 * Decides whether a node admits a pod that is bound to it: the node may know more than the scheduler did.
 * Reasons equal the kubelet's.
 */
import type { Node, Pod } from "../../api/generated/types/core-v1.ts";
import { findUntolerated, matchesPodNodeSelection } from "../../resources/pod/node-selection.ts";
import { podRequests } from "../../resources/pod/pod-requests.ts";
import { resourceNumber } from "../../resources/pod/resource-number.ts";
import { SAFE_SYSCTLS_32 } from "../../resources/pod/safe-sysctls.ts";
import type { ResourceList } from "../../resources/rules/resource-amount.ts";
import { isExtendedResource } from "../../resources/rules/resource-name.ts";
import { ownValue } from "../../resources/rules/value-rules.ts";
import type { SizeProblem } from "../pod/granted-size.ts";
import type { PodRejection } from "../pod/pod-facts.ts";
import type { AllocatedResources } from "./allocated-resources.ts";

/** Undefined when the node admits the pod. `others` holds the resources of the other pods. */
export function findRejection(pod: Pod, node: Node, others: AllocatedResources): PodRejection | undefined {
  return (
    findForbiddenSetting(pod) ??
    findForeignSystem(pod, node) ??
    findShortage(pod, node, others) ??
    findMismatch(pod, node) ??
    findTakenPort(pod, others) ??
    findTaint(pod, node)
  );
}

/** Other sysctls affect processes outside the pod. No node here has a setting to allow them. */
function findForbiddenSetting({ spec }: Pod): PodRejection | undefined {
  const names = (spec.securityContext?.sysctls ?? []).map(({ name }) => dottedName(name));
  const forbidden = names.find((name) => !SAFE_SYSCTLS_32.includes(name));
  if (forbidden === undefined) return undefined;
  return {
    reason: "SysctlForbidden",
    message: `forbidden sysctl: ${JSON.stringify(forbidden)} not allowlisted`,
  };
}

/** `a/b.c/d` is `a.b/c.d`: the first separator in the name decides which one separates parts. */
function dottedName(name: string): string {
  if (!/^[^./]*\//.test(name)) return name;
  return name.replaceAll(/[./]/g, (separator) => (separator === "/" ? "." : "/"));
}

const OS_LABEL = "kubernetes.io/os";

/** The kubelet checks the pod's labels here, not its node selector. */
function findForeignSystem({ metadata, spec }: Pod, { status }: Node): PodRejection | undefined {
  // Empty until the node reports it.
  const system = status.nodeInfo.operatingSystem || "linux";
  if ((ownValue(metadata.labels, OS_LABEL) ?? system) !== system) {
    const message = "Failed to admit pod as the `kubernetes.io/os` label doesn't match node label";
    return { reason: "PodOSSelectorNodeLabelDoesNotMatch", message };
  }
  if ((spec.os?.name ?? system) === system) return undefined;
  return {
    reason: "PodOSNotSupported",
    message: "Failed to admit pod as the OS field doesn't match node OS",
  };
}

/**
 * Decides whether the node can grant a resize. Deferred if other pods must leave first, Infeasible if the
 * node is too small.
 */
export function findSizeProblem(pod: Pod, node: Node, others: AllocatedResources): SizeProblem | undefined {
  const shortage = findLack(pod, node, others);
  if (shortage === undefined) return undefined;
  const { resource, requested, capacity } = shortage;
  if (requested <= capacity) return { reason: "Deferred", message: lackText(shortage) };
  const numbers = `${resource}, requested: ${requested}, capacity: ${capacity}`;
  return { reason: "Infeasible", message: `Node didn't have enough capacity: ${numbers}` };
}

function findShortage(pod: Pod, node: Node, others: AllocatedResources): PodRejection | undefined {
  const shortage = findLack(pod, node, others);
  return shortage && { reason: `OutOf${shortage.resource}`, message: lackText(shortage) };
}

function findLack(pod: Pod, { status }: Node, others: AllocatedResources): Shortage | undefined {
  const allocatable = status.allocatable ?? {};
  const pods = resourceNumber("pods", allocatable["pods"] ?? "0");
  if (others.pods + 1 > pods) {
    return { resource: "pods", requested: 1, used: others.pods, capacity: pods };
  }
  const isOfOthers = elsewhereCounted(pod, allocatable);
  for (const [resource, requested] of podRequests({ ...pod, status: {} })) {
    if (isOfOthers(resource)) continue;
    const capacity = resourceNumber(resource, allocatable[resource] ?? "0");
    const used = others.used(resource);
    if (requested > 0 && used + requested > capacity) return { resource, requested, used, capacity };
  }
  return undefined;
}

/**
 * Resources that are not counted here: those allocated as devices, and extended resources that no node has.
 */
function elsewhereCounted({ status }: Pod, allocatable: ResourceList): (resource: string) => boolean {
  const mappings = status.extendedResourceClaimStatus?.requestMappings ?? [];
  const claimed = new Set(mappings.map(({ resourceName }) => resourceName));
  return (resource) =>
    claimed.has(resource) || (isExtendedResource(resource) && !Object.hasOwn(allocatable, resource));
}

interface Shortage {
  readonly resource: string;
  readonly requested: number;
  readonly used: number;
  readonly capacity: number;
}

function lackText({ resource, requested, used, capacity }: Shortage): string {
  const numbers = `requested: ${requested}, used: ${used}, capacity: ${capacity}`;
  return `Node didn't have enough resource: ${resource}, ${numbers}`;
}

function findMismatch({ spec }: Pod, node: Node): PodRejection | undefined {
  if (matchesPodNodeSelection(spec, node)) return undefined;
  return failed("NodeAffinity", "node(s) didn't match Pod's node affinity/selector");
}

function findTakenPort(pod: Pod, others: AllocatedResources): PodRejection | undefined {
  if (!others.takesPortOf(pod)) return undefined;
  return failed("NodePorts", "node(s) didn't have free ports for the requested pod ports");
}

/** Checks only NoExecute taints, which would evict the pod at once. */
function findTaint({ spec }: Pod, node: Node): PodRejection | undefined {
  const driving = (node.spec.taints ?? []).filter(({ effect }) => effect === "NoExecute");
  if (findUntolerated(driving, spec.tolerations) === undefined) return undefined;
  return failed("TaintToleration", "node(s) had taints that the pod didn't tolerate");
}

function failed(predicate: string, why: string): PodRejection {
  return { reason: predicate, message: `Predicate ${predicate} failed: ${why}` };
}
