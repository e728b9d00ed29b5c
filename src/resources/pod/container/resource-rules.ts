/** Validates requests and limits of containers and pods. */

import type { FieldErrors, FieldPath } from "../../../api/errors/field-error.ts";
import type { PodSpec, ResourceClaim, ResourceRequirements } from "../../../api/generated/types/core-v1.ts";
import { quoted } from "../../../api/values/message-text.ts";
import { dns1123Label } from "../../../api/values/names.ts";
import {
  compareQuantities,
  parseQuantity,
  type Quantity,
  quantityMilliValue,
  quantityValue,
} from "../../../api/values/quantity.ts";
import {
  checkContainerResourceName,
  checkPodResourceName,
  hugePageSize,
  isExtendedResource,
  isHugePages,
  isOvercommitAllowed,
} from "../../rules/resource-name.ts";
import { ownValue } from "../../rules/value-rules.ts";
import { aggregateLimits, aggregateRequests } from "../pod-resources.ts";
import type { PodScope } from "../pod-scope.ts";

type NameCheck = typeof checkContainerResourceName;

export function checkContainerResources(
  resources: ResourceRequirements,
  path: FieldPath,
  scope: PodScope,
): void {
  checkRequirements(resources, { path, checkName: checkContainerResourceName }, scope.errors);
  checkClaims(resources.claims ?? [], path.child("claims"), scope);
}

/** Requests of the pod must be at least the sum of its containers' requests. */
export function checkPodResources(spec: PodSpec, path: FieldPath, errors: FieldErrors): void {
  if (spec.resources === undefined) return;
  if (spec.os?.name === "windows") return errors.forbidden(path, "may not be set for a windows pod");
  const { claims } = spec.resources;
  if (claims !== undefined)
    errors.forbidden(path.child("claims"), "claims may not be set for Resources at pod-level");
  checkRequirements(spec.resources, { path, checkName: checkPodResourceName }, errors);
  checkRoom(spec, path, errors);
  checkBelowPodLimits(spec, path, errors);
}

function checkRoom(spec: PodSpec, path: FieldPath, errors: FieldErrors): void {
  for (const [name, together] of Object.entries(aggregateRequests(spec))) {
    const own = ownValue(spec.resources?.requests, name);
    if (own === undefined || compare(together, own) <= 0) continue;
    const problem = `must be greater than or equal to aggregate container requests of ${together}`;
    errors.invalid(path.child("requests").key(name), own, problem);
  }
  // Huge pages cannot be overcommitted, so that the pod's limits must cover the containers' limits too.
  for (const [name, together] of Object.entries(aggregateLimits(spec))) {
    const own = isHugePages(name) ? ownValue(spec.resources?.limits, name) : undefined;
    if (own === undefined || compare(together, own) <= 0) continue;
    const problem = `must be greater than or equal to aggregate container limits of ${together}`;
    errors.invalid(path.child("limits").key(name), own, problem);
  }
}

function checkBelowPodLimits(spec: PodSpec, path: FieldPath, errors: FieldErrors): void {
  for (const [i, container] of spec.containers.entries()) {
    for (const [name, limit] of Object.entries(container.resources.limits ?? {})) {
      const own = ownValue(spec.resources?.limits, name);
      if (own === undefined || compare(limit, own) <= 0) continue;
      const at = path.child("containers").index(i).key(name).child("limits");
      errors.invalid(at, limit, `must be less than or equal to pod limits of ${own}`);
    }
  }
}

interface RequirementsPlace {
  readonly path: FieldPath;
  readonly checkName: NameCheck;
}

function checkRequirements(
  { limits = {}, requests = {} }: ResourceRequirements,
  { path, checkName }: RequirementsPlace,
  errors: FieldErrors,
): void {
  for (const [name, amount] of Object.entries(limits)) {
    const at = path.child("limits").key(name);
    checkName(name, at, errors);
    checkAmount({ name, amount }, at, errors);
  }
  for (const [name, amount] of Object.entries(requests)) {
    const at = path.child("requests").key(name);
    checkName(name, at, errors);
    checkAmount({ name, amount }, at, errors);
    checkRequestBesideLimit({ name, amount, limit: ownValue(limits, name) }, path, errors);
  }
  const names = [...Object.keys(limits), ...Object.keys(requests)];
  if (names.some(isHugePages) && !names.some((name) => name === "cpu" || name === "memory")) {
    errors.forbidden(path, "HugePages require cpu or memory");
  }
}

interface Amount {
  readonly name: string;
  readonly amount: string;
}

export function checkAmount({ name, amount }: Amount, path: FieldPath, errors: FieldErrors): void {
  const quantity = parseQuantity(amount);
  if (quantity.nano < 0n) errors.invalid(path, amount, "must be greater than or equal to 0");
  if (isExtendedResource(name) && quantityMilliValue(quantity) % 1000n !== 0n) {
    errors.invalid(path, quantityValue(quantity), "must be an integer");
  }
  if (!isHugePages(name)) return;
  const size = findQuantity(hugePageSize(name))?.nano ?? 0n;
  if (size > 0n && quantity.nano % size === 0n) return;
  errors.invalid(path, amount, `${amount} is not positive integer multiple of ${name}`);
}

function checkRequestBesideLimit(
  { name, amount, limit }: Amount & { readonly limit: string | undefined },
  path: FieldPath,
  errors: FieldErrors,
): void {
  const mayDiffer = isOvercommitAllowed(name);
  if (limit === undefined) {
    if (!mayDiffer)
      errors.required(path.child("limits"), "Limit must be set for non overcommitable resources");
    return;
  }
  const order = compare(amount, limit);
  if (order !== 0 && !mayDiffer) {
    errors.invalid(path.child("requests"), amount, `must be equal to ${name} limit of ${limit}`);
  } else if (order > 0) {
    errors.invalid(path.child("requests"), amount, `must be less than or equal to ${name} limit of ${limit}`);
  }
}

function checkClaims(claims: readonly ResourceClaim[], path: FieldPath, scope: PodScope): void {
  const used = new Map<string, Set<string | undefined>>();
  for (const [i, claim] of claims.entries()) {
    const at = path.index(i);
    if (claim.name === "") {
      scope.errors.required(at);
      continue;
    }
    checkClaimUse(claim, { path: at, used }, scope);
    if (scope.claimNames.has(claim.name)) continue;
    const names = [...scope.claimNames].toSorted();
    const known = names.length === 0 ? " which is empty" : `: ${names.join(", ")}`;
    const detail = `must be one of the names in pod.spec.resourceClaims${known}`;
    const body = `Not found: ${quoted(claim.name)}: ${detail}`;
    scope.errors.append([{ type: "FieldValueNotFound", field: at.toString(), body }]);
  }
}

/** A container uses a claim as a whole, or single requests of it, each once. */
function checkClaimUse(
  { name, request }: ResourceClaim,
  place: { readonly path: FieldPath; readonly used: Map<string, Set<string | undefined>> },
  { errors }: PodScope,
): void {
  const { path, used } = place;
  if (request !== undefined) errors.invalidFor(path.child("request"), request, dns1123Label(request));
  const requests = used.get(name);
  if (requests === undefined) {
    used.set(name, new Set([request]));
    return;
  }
  if (requests.has(undefined)) errors.duplicate(path, name);
  else if (requests.has(request)) errors.duplicate(path, `${name}/${request}`);
  else if (request === undefined) errors.duplicate(path, name);
  requests.add(request);
}

/** Undefined when the size in a huge pages name is not a quantity. */
function findQuantity(text: string): Quantity | undefined {
  try {
    return parseQuantity(text);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

function compare(left: string, right: string): number {
  return compareQuantities(parseQuantity(left), parseQuantity(right));
}
