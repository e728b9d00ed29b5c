/** Names of resources that containers ask for. */

import type { FieldErrors, FieldPath } from "../../../api/field-error.ts";
import { qualifiedName } from "../../../api/names.ts";

const HUGE_PAGES = "hugepages-";

/** Without a prefix only names that the system knows are good. */
const STANDARD: ReadonlySet<string> = new Set([
  "cpu",
  "memory",
  "ephemeral-storage",
  "requests.cpu",
  "requests.memory",
  "requests.ephemeral-storage",
  "limits.cpu",
  "limits.memory",
  "limits.ephemeral-storage",
  "pods",
  "resourcequotas",
  "services",
  "replicationcontrollers",
  "secrets",
  "configmaps",
  "persistentvolumeclaims",
  "storage",
  "requests.storage",
  "services.nodeports",
  "services.loadbalancers",
]);
const STANDARD_OF_CONTAINERS: ReadonlySet<string> = new Set(["cpu", "memory", "ephemeral-storage"]);
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

export function checkContainerResourceName(name: string, path: FieldPath, errors: FieldErrors): void {
  if (!checkResourceName(name, path, errors)) return;
  if (!name.includes("/")) {
    if (STANDARD_OF_CONTAINERS.has(name) || isHugePages(name)) return;
    errors.invalid(path, name, "must be a standard resource for containers");
  } else if (!isNativeResource(name) && !isExtendedResource(name)) {
    errors.invalid(path, name, "doesn't follow extended resource name standard");
  }
}

export function checkPodResourceName(name: string, path: FieldPath, errors: FieldErrors): void {
  if (!checkResourceName(name, path, errors)) return;
  if (!OF_PODS.includes(name) && !isHugePages(name)) errors.notSupported(path, name, OF_PODS);
}

/** Whether the name is good so far. */
function checkResourceName(name: string, path: FieldPath, errors: FieldErrors): boolean {
  const problems = qualifiedName(name);
  errors.invalidFor(path, name, problems);
  if (problems.length > 0) return false;
  if (name.includes("/") || STANDARD.has(name) || isHugePages(name)) return true;
  errors.invalid(path, name, "must be a standard resource type or fully qualified");
  return false;
}
