/** Validation that PodGroup and its template in a Workload share. */

import type { FieldErrors, FieldPath } from "../../api/errors/field-error.ts";
import type {
  PodGroupResourceClaim,
  PodGroupSchedulingPolicy,
  PodGroupSpec,
  PodGroupTemplate,
} from "../../api/generated/types/scheduling-v1alpha2.ts";
import { dns1123Label, dns1123Subdomain, qualifiedName } from "../../api/values/names.ts";
import type { NameRule } from "../../api/values/names.ts";
import { addNew, checkChoice } from "../rules/value-rules.ts";

export const CLAIMS_MAX = 4;
const TOPOLOGIES_MAX = 1;
/** Upper bound for users' priorities; larger values are the system's. */
const PRIORITY_MAX = 1_000_000_000;
const PRIORITY_MIN = -(2 ** 31);
const DISRUPTION_MODES = ["Pod", "PodGroup"];

/** The type requires some of these fields, but clients may omit them. */
type Group = Partial<Pick<PodGroupSpec & PodGroupTemplate, SharedField>>;
type SharedField = keyof PodGroupSpec & keyof PodGroupTemplate;

export function checkGroup(group: Group, path: FieldPath, errors: FieldErrors): void {
  const { schedulingPolicy = {}, schedulingConstraints, resourceClaims = [], priority } = group;
  checkPolicy(schedulingPolicy, path.child("schedulingPolicy"), errors);
  const topologies = schedulingConstraints?.topology ?? [];
  const topologyPath = path.child("schedulingConstraints", "topology");
  if (topologies.length > TOPOLOGIES_MAX) errors.tooMany(topologyPath, topologies.length, TOPOLOGIES_MAX);
  else
    for (const [i, { key }] of topologies.entries())
      checkName(key, { path: topologyPath.index(i).child("key"), rule: qualifiedName }, errors);
  checkClaims(resourceClaims, path.child("resourceClaims"), errors);
  const mode = { path: path.child("disruptionMode"), value: group.disruptionMode, among: DISRUPTION_MODES };
  checkChoice(mode, errors);
  const { priorityClassName = "" } = group;
  if (priorityClassName !== "")
    errors.invalidFor(
      path.child("priorityClassName"),
      priorityClassName,
      dns1123Subdomain(priorityClassName),
    );
  checkPriority(priority, path.child("priority"), errors);
}

function checkPriority(priority = 0, path: FieldPath, errors: FieldErrors): void {
  if (priority > PRIORITY_MAX)
    errors.invalid(path, priority, `must be less than or equal to ${String(PRIORITY_MAX)}`);
  if (priority < PRIORITY_MIN)
    errors.invalid(path, priority, `must be greater than or equal to ${String(PRIORITY_MIN)}`);
}

function checkPolicy({ basic, gang }: PodGroupSchedulingPolicy, path: FieldPath, errors: FieldErrors): void {
  checkUnion({ basic, gang }, path, errors);
  if (gang === undefined) return;
  const { minCount } = gang;
  if (minCount === 0) errors.required(path.child("gang", "minCount"));
  else if (minCount < 1)
    errors.invalid(path.child("gang", "minCount"), minCount, "must be greater than or equal to 1");
}

function checkClaims(claims: readonly PodGroupResourceClaim[], path: FieldPath, errors: FieldErrors): void {
  if (claims.length > CLAIMS_MAX) return errors.tooMany(path, claims.length, CLAIMS_MAX);
  const names = new Set<string>();
  for (const [i, claim] of claims.entries()) {
    const at = path.index(i);
    const { name, resourceClaimName, resourceClaimTemplateName } = claim;
    if (!addNew(names, name)) errors.duplicate(at, claim);
    checkName(name, { path: at.child("name"), rule: dns1123Label }, errors);
    checkUnion({ resourceClaimName, resourceClaimTemplateName }, at, errors);
    for (const [field, value] of Object.entries({ resourceClaimName, resourceClaimTemplateName }))
      if (value !== undefined) errors.invalidFor(at.child(field), value, dns1123Subdomain(value));
  }
}

/** Requires exactly one member. */
export function checkUnion(members: object, path: FieldPath, errors: FieldErrors): void {
  const all = Object.keys(members);
  const given = Object.entries(members).flatMap(([name, value]) => (value === undefined ? [] : [name]));
  if (given.length === 0) errors.invalid(path, "", `must specify one of: ${listed(all)}`);
  if (given.length > 1)
    errors.invalid(path, `{${given.join(", ")}}`, `must specify exactly one of: ${listed(all)}`);
}

function listed(names: readonly string[]): string {
  return names.map((name) => `\`${name}\``).join(", ");
}

interface NamePlace {
  readonly path: FieldPath;
  readonly rule: NameRule;
}

/** Checks a required name. */
export function checkName(name: string, { path, rule }: NamePlace, errors: FieldErrors): void {
  if (name === "") errors.required(path);
  else errors.invalidFor(path, name, rule(name));
}
