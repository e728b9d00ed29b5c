/** Validates topology spread constraints. */

import type { FieldErrors, FieldPath } from "../../api/errors/field-error.ts";
import type { TopologySpreadConstraint } from "../../api/generated/types/core-v1.ts";
import { validateLabelSelector } from "../../api/selectors/label-selector.ts";
import { qualifiedName } from "../../api/values/names.ts";
import { addNew, checkChoice } from "../rules/value-rules.ts";
import { repeatedKeys } from "./match-label-keys.ts";

const ACTIONS = ["DoNotSchedule", "ScheduleAnyway"];
const NODE_POLICIES = ["Honor", "Ignore"];
const NOT_POSITIVE = "must be greater than zero";

export function checkSpread(
  constraints: readonly TopologySpreadConstraint[],
  path: FieldPath,
  errors: FieldErrors,
): void {
  const pairs = new Set<string>();
  for (const [i, constraint] of constraints.entries()) {
    const at = path.index(i);
    checkConstraint(constraint, at, errors);
    const pair = `{${constraint.topologyKey}, ${constraint.whenUnsatisfiable}}`;
    if (!addNew(pairs, pair)) errors.duplicate(at.child("{topologyKey, whenUnsatisfiable}"), pair);
  }
}

function checkConstraint(constraint: TopologySpreadConstraint, path: FieldPath, errors: FieldErrors): void {
  const { maxSkew, topologyKey, whenUnsatisfiable, labelSelector } = constraint;
  if (maxSkew <= 0) errors.invalid(path.child("maxSkew"), maxSkew, NOT_POSITIVE);
  if (topologyKey === "") errors.required(path.child("topologyKey"), "can not be empty");
  checkChoice({ path: path.child("whenUnsatisfiable"), value: whenUnsatisfiable, among: ACTIONS }, errors);
  checkMinDomains(constraint, path.child("minDomains"), errors);
  for (const field of ["nodeAffinityPolicy", "nodeTaintsPolicy"] as const) {
    checkChoice({ path: path.child(field), value: constraint[field], among: NODE_POLICIES }, errors);
  }
  checkMatchLabelKeys(constraint, path.child("matchLabelKeys"), errors);
  if (labelSelector !== undefined) validateLabelSelector(labelSelector, path.child("labelSelector"), errors);
}

function checkMinDomains(
  { minDomains, whenUnsatisfiable }: TopologySpreadConstraint,
  path: FieldPath,
  errors: FieldErrors,
): void {
  if (minDomains === undefined) return;
  if (minDomains <= 0) errors.invalid(path, minDomains, NOT_POSITIVE);
  if (whenUnsatisfiable === "DoNotSchedule") return;
  const problem = `can only use minDomains if whenUnsatisfiable=DoNotSchedule, not ${whenUnsatisfiable}`;
  errors.invalid(path, minDomains, problem);
}

function checkMatchLabelKeys(
  { matchLabelKeys = [], labelSelector }: TopologySpreadConstraint,
  path: FieldPath,
  errors: FieldErrors,
): void {
  if (matchLabelKeys.length === 0) return;
  if (labelSelector === undefined)
    errors.forbidden(path, "must not be specified when labelSelector is not set");
  const repeated = repeatedKeys(labelSelector);
  for (const [i, key] of matchLabelKeys.entries()) {
    errors.invalidFor(path.index(i), key, qualifiedName(key));
    // The server added the pod's label to the selector. A key that occurs twice was also in the client's
    // selector.
    if (repeated.has(key))
      errors.invalid(path.index(i), key, "exists in both matchLabelKeys and labelSelector");
  }
}
