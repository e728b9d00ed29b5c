/** ResourceQuota: upper bounds for the resources of a namespace. `src/resources/quota` counts the usage. */

import { type FieldErrors, type FieldPath, fieldPath } from "../../api/errors/field-error.ts";
import type {
  ResourceQuota,
  ResourceQuotaSpec,
  ScopedResourceSelectorRequirement,
} from "../../api/generated/types/core-v1.ts";
import { ageText } from "../rules/human-duration.ts";
import { defineKind } from "../rules/kind-rules.ts";
import { checkAmount, type ResourceList } from "../rules/resource-amount.ts";
import { checkResourceName, isStandardQuotaResource } from "../rules/resource-name.ts";
import { isSame } from "../rules/value-rules.ts";

const POD_SCOPES = [
  "Terminating",
  "NotTerminating",
  "BestEffort",
  "NotBestEffort",
  "CrossNamespacePodAffinity",
];
const SCOPES = [...POD_SCOPES, "PriorityClass", "VolumeAttributesClass"];
/** Resources besides `pods` that pod scopes may restrict. Storage and huge pages are excluded. */
const COMPUTE_RESOURCES = ["cpu", "memory", "limits.cpu", "limits.memory", "requests.cpu", "requests.memory"];
const CONFLICTS = [
  ["BestEffort", "NotBestEffort"],
  ["Terminating", "NotTerminating"],
];

export const resourceQuota = defineKind<ResourceQuota>("v1", "ResourceQuota", {
  validate({ spec }, errors) {
    checkList(spec.hard ?? {}, fieldPath("spec", "hard"), errors);
    checkScopes(spec, errors);
    checkScopeSelector(spec, errors);
  },

  validateUpdate({ spec: next }, { spec: previous }, errors) {
    const sorted = ({ scopes = [] }: ResourceQuotaSpec): readonly string[] => [...new Set(scopes)].toSorted();
    if (!isSame(sorted(next), sorted(previous))) {
      errors.invalid("spec.scopes", next.scopes, "field is immutable");
    }
  },

  validateStatus({ status }, _previous, errors) {
    checkList(status.hard ?? {}, fieldPath("status", "hard"), errors);
    checkList(status.used ?? {}, fieldPath("status", "used"), errors);
  },

  cells: (it, now) => [
    it.metadata.name,
    usageText(it, (name) => !name.startsWith("limits.")),
    usageText(it, (name) => name.startsWith("limits.")),
    ageText(it, now),
  ],
});

function checkList(list: ResourceList, path: FieldPath, errors: FieldErrors): void {
  for (const [name, amount] of Object.entries(list)) {
    const at = path.key(name);
    checkResourceName(name, at, errors);
    if (!name.includes("/") && !isStandardQuotaResource(name)) {
      errors.invalid(at, name, "must be a standard resource for quota");
    }
    checkAmount({ name, amount }, at, errors);
  }
}

function checkScopes({ scopes = [], hard = {} }: ResourceQuotaSpec, errors: FieldErrors): void {
  const path = fieldPath("spec", "scopes");
  for (const scope of scopes) {
    if (!SCOPES.includes(scope)) errors.invalid(path, scopes, "unsupported scope");
    for (const _ of resourcesOutside(scope, hard)) {
      errors.invalid(path, scopes, "unsupported scope applied to resource");
    }
  }
  refuseConflicts(new Set<string>(scopes), { path, scopes }, errors);
}

function refuseConflicts(
  found: ReadonlySet<string>,
  { path, scopes }: { readonly path: FieldPath; readonly scopes: readonly string[] | undefined },
  errors: FieldErrors,
): void {
  for (const pair of CONFLICTS) {
    if (pair.every((scope) => found.has(scope))) errors.invalid(path, scopes, "conflicting scopes");
  }
}

function checkScopeSelector(
  { scopes, scopeSelector, hard = {} }: ResourceQuotaSpec,
  errors: FieldErrors,
): void {
  if (scopeSelector === undefined) return;
  const path = fieldPath("spec", "scopeSelector", "matchExpressions");
  const { matchExpressions = [] } = scopeSelector;
  for (const requirement of matchExpressions) {
    if (!SCOPES.includes(requirement.scopeName)) {
      errors.invalid(path.child("scopeName"), requirement.scopeName, "unsupported scope");
    }
    for (const _ of resourcesOutside(requirement.scopeName, hard)) {
      errors.invalid(path, scopeSelector, "unsupported scope applied to resource");
    }
    checkRequirement(requirement, path, errors);
  }
  refuseConflicts(
    new Set<string>(matchExpressions.map(({ scopeName }) => scopeName)),
    { path, scopes },
    errors,
  );
}

function checkRequirement(
  requirement: ScopedResourceSelectorRequirement,
  path: FieldPath,
  errors: FieldErrors,
): void {
  const { scopeName, operator, values = [] } = requirement;
  if (POD_SCOPES.includes(scopeName) && operator !== "Exists") {
    const detail =
      "must be 'Exists' when scope is any of ResourceQuotaScopeTerminating, ResourceQuotaScopeNotTerminating, ResourceQuotaScopeBestEffort, ResourceQuotaScopeNotBestEffort or ResourceQuotaScopeCrossNamespacePodAffinity";
    errors.invalid(path.child("operator"), operator, detail);
  }
  if (operator === "In" || operator === "NotIn") {
    if (values.length > 0) return;
    const detail = "must be at least one value when `operator` is 'In' or 'NotIn' for scope selector";
    errors.required(path.child("values"), detail);
  } else if (operator === "Exists" || operator === "DoesNotExist") {
    if (values.length === 0) return;
    const detail = "must be no value when `operator` is 'Exist' or 'DoesNotExist' for scope selector";
    errors.invalid(path.child("values"), values, detail);
  } else {
    errors.invalid(path.child("operator"), operator, "not a valid selector operator");
  }
}

/** Standard resources that the scope cannot restrict: most scopes apply to pods only. */
function resourcesOutside(scope: string, hard: ResourceList): readonly string[] {
  return Object.keys(hard)
    .toSorted()
    .filter((name) => isStandardQuotaResource(name) && !isScopable(scope, name));
}

function isScopable(scope: string, name: string): boolean {
  switch (scope) {
    case "Terminating":
    case "NotTerminating":
    case "NotBestEffort":
    case "PriorityClass":
    case "CrossNamespacePodAffinity":
      return name === "pods" || COMPUTE_RESOURCES.includes(name);
    case "BestEffort":
      return name === "pods";
    case "VolumeAttributesClass":
      return name === "persistentvolumeclaims" || name === "requests.storage";
    default:
      return true;
  }
}

function usageText(
  { status: { hard = {}, used = {} } }: ResourceQuota,
  isShown: (name: string) => boolean,
): string {
  return Object.keys(hard)
    .filter(isShown)
    .toSorted()
    .map((name) => `${name}: ${used[name] ?? "0"}/${hard[name]}`)
    .join(", ");
}
