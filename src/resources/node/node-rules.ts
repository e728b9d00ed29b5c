/** Validates spec and status of a Node, and the changes between two versions of it. */

import { type FieldErrors, fieldPath } from "../../api/errors/field-error.ts";
import type { Node, Taint } from "../../api/generated/types/core-v1.ts";
import { stringifyAsGo } from "../../api/json/json-text.ts";
import { findCidr, legacyCidr } from "../../api/values/ip-address.ts";
import { labelValue, qualifiedName } from "../../api/values/names.ts";
import { isDualStack } from "../rules/address-rules.ts";
import { checkAmount } from "../rules/resource-amount.ts";
import { addNew, checkRequiredChoice } from "../rules/value-rules.ts";

const POD_CIDRS = fieldPath("spec", "podCIDRs");
/** Taints are in the spec; the path with `metadata` equals upstream's. */
const TAINTS = fieldPath("metadata", "taints");
const FEATURE = /^[A-Z][a-zA-Z0-9]*(?:\/[a-zA-Z0-9]+)*$/;
const FEATURE_MAX = 253;
const FEATURE_TOO_LONG = `must be no more than ${FEATURE_MAX} characters`;
const FEATURE_DETAIL =
  "must start with an UpperCamelCase segment, with subsequent segments separated by '/' (e.g., MyFeature or MyFeature/mySubFeature), and contain only alphanumeric characters and slashes";
const EFFECTS = ["NoSchedule", "PreferNoSchedule", "NoExecute"];

export function checkTaints(taints: readonly Taint[], errors: FieldErrors): void {
  const seen = new Set<string>();
  for (const [i, { key, value = "", effect, timeAdded }] of taints.entries()) {
    const path = TAINTS.index(i);
    errors.invalidFor(path.child("key"), key, qualifiedName(key));
    const problems = labelValue(value);
    if (problems.length > 0) errors.invalid(path.child("value"), value, problems.join(";"));
    checkRequiredChoice({ path: path.child("effect"), value: effect, among: EFFECTS }, errors);
    if (addNew(seen, `${effect}/${key}`)) continue;
    const shown = stringifyAsGo({ Key: key, Value: value, Effect: effect, TimeAdded: timeAdded ?? null });
    const body = `Duplicate value: ${shown}: taints must be unique by key and effect pair`;
    errors.append([{ type: "FieldValueDuplicate", field: path.toString(), body }]);
  }
}

/** At most one block of each family. */
export function checkPodCidrs(blocks: readonly string[], errors: FieldErrors): void {
  for (const [i, block] of blocks.entries()) errors.invalidFor(POD_CIDRS.index(i), block, legacyCidr(block));
  if (blocks.length < 2) return;
  if (!isDualStack(blocks.map((block) => findCidr(block)?.address.family))) {
    errors.invalid(POD_CIDRS, blocks, "may specify no more than one CIDR for each IP family");
  }
}

/** The swap capacity is in the status; the path with `metadata` equals upstream's. */
export function checkSwap({ status }: Node, errors: FieldErrors): void {
  const { capacity } = status.nodeInfo.swap ?? {};
  if (capacity !== undefined && capacity <= 0)
    errors.invalid(
      fieldPath("metadata", "nodeSwapStatus", "capacity"),
      capacity,
      "must be greater than zero",
    );
}

export function checkNodeAmounts({ status }: Node, errors: FieldErrors): void {
  for (const list of ["capacity", "allocatable"] as const) {
    for (const [name, amount] of Object.entries(status[list] ?? {})) {
      checkAmount({ name, amount }, fieldPath("status", list, name), errors);
    }
  }
}

export function checkNodeAddresses({ status }: Node, errors: FieldErrors): void {
  const seen = new Set<string>();
  for (const [i, { type, address }] of (status.addresses ?? []).entries()) {
    if (addNew(seen, `${type}/${address}`)) continue;
    errors.duplicate(fieldPath("status", "addresses").index(i), { Type: type, Address: address });
  }
}

/** Requires sorted, unique names, so that nodes with equal features have equal lists. */
export function checkDeclaredFeatures({ status }: Node, errors: FieldErrors): void {
  const features = status.declaredFeatures ?? [];
  for (const [i, feature] of features.entries()) {
    const path = fieldPath("status", "declaredFeatures").index(i);
    const last = features[i - 1] ?? "";
    if (feature.length > FEATURE_MAX)
      errors.invalid(path, feature, `invalid feature name ${stringifyAsGo(feature)}: ${FEATURE_TOO_LONG}`);
    else if (!FEATURE.test(feature))
      errors.invalid(path, feature, `invalid feature name ${stringifyAsGo(feature)}: ${FEATURE_DETAIL}`);
    if (i > 0 && last === feature) errors.duplicate(path, feature);
    else if (last > feature) errors.invalid(path, feature, "list must be sorted alphabetically");
  }
}

/** Immutable once set, because other components rely on them: pod CIDRs and provider ID. */
export function checkNodeIdentity({ spec: next }: Node, { spec: previous }: Node, errors: FieldErrors): void {
  const before = previous.podCIDRs ?? [];
  const after = next.podCIDRs ?? [];
  const podCidrDetail = 'node updates may not change podCIDR except from "" to valid';
  if (before.length > 0 && before.length !== after.length) errors.forbidden(POD_CIDRS, podCidrDetail);
  else {
    for (const [i, block] of before.entries()) {
      if (block !== after[i]) errors.forbidden(POD_CIDRS, podCidrDetail);
    }
  }
  const isOtherProvider = previous.providerID !== undefined && previous.providerID !== next.providerID;
  if (isOtherProvider) {
    errors.forbidden("spec.providerID", 'node updates may not change providerID except from "" to valid');
  }
  if (previous.externalID !== next.externalID) errors.forbidden("spec.externalID", "may not be updated");
}
