/** Names and amounts of resources as nodes, quotas and limit ranges count them. */

import type { FieldErrors, FieldPath } from "../api/field-error.ts";
import { qualifiedName } from "../api/names.ts";
import { parseQuantity, quantityMilliValue } from "../api/quantity.ts";

export type ResourceList = Readonly<Record<string, string>>;

/** Counted in whole ones. */
const OBJECT_COUNTS = [
  "configmaps",
  "persistentvolumeclaims",
  "pods",
  "replicationcontrollers",
  "resourcequotas",
  "secrets",
  "services",
  "services.loadbalancers",
  "services.nodeports",
];
const COMPUTE = ["cpu", "memory", "ephemeral-storage"];
const QUOTA: ReadonlySet<string> = new Set([
  ...OBJECT_COUNTS,
  ...COMPUTE,
  ...COMPUTE.flatMap((name) => [`requests.${name}`, `limits.${name}`]),
  "requests.storage",
]);
const STANDARD: ReadonlySet<string> = new Set([...QUOTA, "storage"]);

function isHugePages(name: string): boolean {
  return name.startsWith("hugepages-");
}

export function isStandardQuotaResource(name: string): boolean {
  return QUOTA.has(name) || isHugePages(name) || name.startsWith("requests.hugepages-");
}

/** Whether the name is good: known, or with a prefix that makes it somebody's own. */
export function checkResourceName(name: string, path: FieldPath, errors: FieldErrors): boolean {
  const problems = qualifiedName(name);
  errors.invalidFor(path, name, problems);
  if (problems.length > 0) return false;
  const isKnown = STANDARD.has(name) || isHugePages(name) || name.startsWith("requests.hugepages-");
  if (name.includes("/") || isKnown) return true;
  errors.invalid(path, name, "must be a standard resource type or fully qualified");
  return false;
}

export interface NamedAmount {
  readonly name: string;
  readonly amount: string;
}

/** Nothing is counted below zero, and things that come in ones are counted in ones. */
export function checkQuantity({ name, amount }: NamedAmount, path: FieldPath, errors: FieldErrors): void {
  const quantity = parseQuantity(amount);
  if (quantity.nano < 0n) errors.invalid(path, amount, "must be greater than or equal to 0");
  if (isIntegerResource(name) && quantityMilliValue(quantity) % 1000n !== 0n) {
    errors.invalid(path, amount, "must be an integer");
  }
}

function isIntegerResource(name: string): boolean {
  return OBJECT_COUNTS.includes(name) || isExtended(name);
}

/** Resources of device plug-ins and their like. */
function isExtended(name: string): boolean {
  const isNative = !name.includes("/") || name.includes("kubernetes.io/");
  return !isNative && !name.startsWith("requests.") && qualifiedName(`requests.${name}`).length === 0;
}
