/** Names of what is counted: by containers and pods that ask for it, by nodes that have it, by quotas that bound it. */

import type { FieldErrors, FieldPath } from "../../api/errors/field-error.ts";
import { qualifiedName } from "../../api/values/names.ts";

const HUGE_PAGES = "hugepages-";
const REQUESTED_HUGE_PAGES = `requests.${HUGE_PAGES}`;

/** Objects, which a quota counts in whole ones. */
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
/** What a pod may ask for as a whole; the last stands for all sizes of huge pages. */
const OF_PODS = ["cpu", "hugepages-", "memory"];

export function isHugePages(name: string): boolean {
  return name.startsWith(HUGE_PAGES);
}

/** `2Mi` of `hugepages-2Mi`. */
export function hugePageSize(name: string): string {
  return name.slice(HUGE_PAGES.length);
}

/** Resources of Kubernetes itself, not of a device plug-in. */
function isNativeResource(name: string): boolean {
  return !name.includes("/") || name.includes("kubernetes.io/");
}

export function isExtendedResource(name: string): boolean {
  if (isNativeResource(name) || name.startsWith("requests.")) return false;
  return qualifiedName(`requests.${name}`).length === 0;
}

/** Only these may be promised to more than one at a time. */
export function isOvercommitAllowed(name: string): boolean {
  return isNativeResource(name) && !isHugePages(name);
}

/** Things that come in ones. */
export function isWholeResource(name: string): boolean {
  return OBJECT_COUNTS.has(name) || isExtendedResource(name);
}

export function isStandardQuotaResource(name: string): boolean {
  return OF_QUOTAS.has(name) || isHugePages(name) || name.startsWith(REQUESTED_HUGE_PAGES);
}

/** Whether the name is good: known, or with a prefix that makes it somebody's own. */
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
