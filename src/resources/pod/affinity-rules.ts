/** Validates the affinity of a pod: to nodes, to pods, and against pods. */

import type { FieldErrors, FieldPath } from "../../api/errors/field-error.ts";
import type {
  Affinity,
  NodeAffinity,
  PodAffinity,
  PodAffinityTerm,
} from "../../api/generated/types/core-v1.ts";
import type { LabelSelector } from "../../api/generated/types/meta-v1.ts";
import { validateLabelSelector } from "../../api/selectors/label-selector.ts";
import { dns1123Label, qualifiedName } from "../../api/values/names.ts";
import { checkNodeSelector, checkNodeTerm } from "../node/node-selector-rules.ts";
import { repeatedKeys } from "./match-label-keys.ts";

const REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution";
const PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution";
const WEIGHT_MAX = 100;

export function checkAffinity(affinity: Affinity, path: FieldPath, errors: FieldErrors): void {
  const { nodeAffinity, podAffinity, podAntiAffinity } = affinity;
  if (nodeAffinity !== undefined) checkNodeAffinity(nodeAffinity, path.child("nodeAffinity"), errors);
  if (podAffinity !== undefined) checkPodAffinity(podAffinity, path.child("podAffinity"), errors);
  if (podAntiAffinity !== undefined) checkPodAffinity(podAntiAffinity, path.child("podAntiAffinity"), errors);
}

function checkNodeAffinity(affinity: NodeAffinity, path: FieldPath, errors: FieldErrors): void {
  const required = affinity[REQUIRED];
  if (required !== undefined) {
    checkNodeSelector(required, { path: path.child(REQUIRED), values: "strict" }, errors);
  }
  for (const [i, { weight, preference }] of (affinity[PREFERRED] ?? []).entries()) {
    const at = path.child(PREFERRED).index(i);
    checkWeight(weight, at.child("weight"), errors);
    checkNodeTerm(preference, { path: at.child("preference"), values: "any" }, errors);
  }
}

function checkWeight(weight: number, path: FieldPath, errors: FieldErrors): void {
  if (weight <= 0 || weight > WEIGHT_MAX) errors.invalid(path, weight, "must be in the range 1-100");
}

/** Used for affinity and anti-affinity, which have equal fields. */
function checkPodAffinity(affinity: PodAffinity, path: FieldPath, errors: FieldErrors): void {
  for (const [i, term] of (affinity[REQUIRED] ?? []).entries()) {
    checkPodTerm(term, path.child(REQUIRED).index(i), errors);
  }
  for (const [i, { weight, podAffinityTerm }] of (affinity[PREFERRED] ?? []).entries()) {
    const at = path.child(PREFERRED).index(i);
    checkWeight(weight, at.child("weight"), errors);
    checkPodTerm(podAffinityTerm, at.child("podAffinityTerm"), errors);
  }
}

function checkPodTerm(term: PodAffinityTerm, path: FieldPath, errors: FieldErrors): void {
  const { labelSelector, namespaceSelector, namespaces = [], topologyKey } = term;
  if (labelSelector !== undefined) validateLabelSelector(labelSelector, path.child("labelSelector"), errors);
  if (namespaceSelector !== undefined) {
    validateLabelSelector(namespaceSelector, path.child("namespaceSelector"), errors);
  }
  for (const name of namespaces) errors.invalidFor(path.child("namespace"), name, dns1123Label(name));
  checkLabelKeys(term, path, errors);
  if (topologyKey === "") errors.required(path.child("topologyKey"), "can not be empty");
  errors.invalidFor(path.child("topologyKey"), topologyKey, qualifiedName(topologyKey));
}

function checkLabelKeys(term: PodAffinityTerm, path: FieldPath, errors: FieldErrors): void {
  const { matchLabelKeys = [], mismatchLabelKeys = [], labelSelector } = term;
  checkKeysBesideSelector({ keys: matchLabelKeys, labelSelector }, path.child("matchLabelKeys"), errors);
  checkKeysBesideSelector(
    { keys: mismatchLabelKeys, labelSelector },
    path.child("mismatchLabelKeys"),
    errors,
  );
  const repeated = repeatedKeys(labelSelector);
  const mismatched = new Set(mismatchLabelKeys);
  for (const [i, key] of matchLabelKeys.entries()) {
    // The server added the pod's label to the selector. A key that occurs twice was also in the client's
    // selector.
    if (repeated.has(key))
      errors.invalid(path.index(i), key, "exists in both matchLabelKeys and labelSelector");
    if (!mismatched.has(key)) continue;
    const problem = "exists in both matchLabelKeys and mismatchLabelKeys";
    errors.invalid(path.child("matchLabelKeys").index(i), key, problem);
  }
}

function checkKeysBesideSelector(
  {
    keys,
    labelSelector,
  }: { readonly keys: readonly string[]; readonly labelSelector: LabelSelector | undefined },
  path: FieldPath,
  errors: FieldErrors,
): void {
  if (keys.length === 0) return;
  if (labelSelector === undefined) {
    return errors.forbidden(path, "must not be specified when labelSelector is not set");
  }
  for (const [i, key] of keys.entries()) errors.invalidFor(path.index(i), key, qualifiedName(key));
}
