/** Classifies and validates names of resources, as containers, nodes and quotas use them. */

import type { FieldErrors, FieldPath } from "../../api/errors/field-error.ts";
import { qualifiedName } from "../../api/values/names.ts";

const HUGE_PAGES = "hugepages-";
const REQUESTED_HUGE_PAGES = `requests.${HUGE_PAGES}`;

/** Object counts of a quota: always integers. */
const OBJECT_COUNTS: ReadonlySet<string> = new Set([
  "configmaps",
  "persistentvolumeclaims",
  "pods",
  "replicationcontrollers",
  "resourcequotas",
  "secrets",
  "services",
  "services.loadbalancers",
  "services.nodeports",
]);
const OF_CONTAINERS: ReadonlySet<string> = new Set(["cpu", "memory", "ephemeral-storage"]);
const OF_QUOTAS: ReadonlySet<string> = new Set([
  ...OBJECT_COUNTS,
  ...OF_CONTAINERS,
  ...[...OF_CONTAINERS].flatMap((name) => [`requests.${name}`, `limits.${name}`]),
  "requests.storage",
]);
/** Resources that a pod may request as a whole. `hugepages-` matches all sizes. */
const OF_PODS = ["cpu", "hugepages-", "memory"];

export function isHugePages(name: string): boolean {
  return name.startsWith(HUGE_PAGES);
}

/** Returns `2Mi` for `hugepages-2Mi`. */
export function hugePageSize(name: string): string {
  return name.slice(HUGE_PAGES.length);
}

/** A resource of Kubernetes itself, not of a device plug-in. */
function isNativeResource(name: string): boolean {
  return !name.includes("/") || name.includes("kubernetes.io/");
}

export function isExtendedResource(name: string): boolean {
  if (isNativeResource(name) || name.startsWith("requests.")) return false;
  return qualifiedName(`requests.${name}`).length === 0;
}

/** Whether limits may exceed requests: true for native resources except huge pages. */
export function isOvercommitAllowed(name: string): boolean {
  return isNativeResource(name) && !isHugePages(name);
}

/** Resources with integer amounts only. */
export function isWholeResource(name: string): boolean {
  return OBJECT_COUNTS.has(name) || isExtendedResource(name);
}

export function isStandardQuotaResource(name: string): boolean {
  return OF_QUOTAS.has(name) || isHugePages(name) || name.startsWith(REQUESTED_HUGE_PAGES);
}

/** Reports an invalid name. A name is valid when it is known or has a domain as prefix. */
export function checkResourceName(name: string, path: FieldPath, errors: FieldErrors): boolean {
  const problems = qualifiedName(name);
  errors.invalidFor(path, name, problems);
  if (problems.length > 0) return false;
  if (name.includes("/") || name === "storage" || isStandardQuotaResource(name)) return true;
  errors.invalid(path, name, "must be a standard resource type or fully qualified");
  return false;
}

export function checkContainerResourceName(name: string, path: FieldPath, errors: FieldErrors): void {
  if (!checkResourceName(name, path, errors)) return;
  if (!name.includes("/")) {
    if (OF_CONTAINERS.has(name) || isHugePages(name)) return;
    errors.invalid(path, name, "must be a standard resource for containers");
  } else if (!isNativeResource(name) && !isExtendedResource(name)) {
    errors.invalid(path, name, "doesn't follow extended resource name standard");
  }
}

export function checkPodResourceName(name: string, path: FieldPath, errors: FieldErrors): void {
  if (!checkResourceName(name, path, errors)) return;
  if (!OF_PODS.includes(name) && !isHugePages(name)) errors.notSupported(path, name, OF_PODS);
}
