/** Validates a claim template of a pod's ephemeral volume or of a StatefulSet. */

import type { FieldErrors, FieldPath } from "../../../api/errors/field-error.ts";
import type { PersistentVolumeClaimSpec } from "../../../api/generated/types/core-v1.ts";
import { validateLabelSelector } from "../../../api/selectors/label-selector.ts";
import { dns1123Subdomain } from "../../../api/values/names.ts";
import { parseQuantity } from "../../../api/values/quantity.ts";
import { checkChoice } from "../../rules/value-rules.ts";

const ACCESS_MODES = ["ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod"];
const VOLUME_MODES = ["Block", "Filesystem"];

export function checkClaimSpec(spec: PersistentVolumeClaimSpec, path: FieldPath, errors: FieldErrors): void {
  const { accessModes = [], selector, storageClassName = "", volumeMode } = spec;
  const modes = path.child("accessModes");
  if (accessModes.length === 0) errors.required(modes, "at least 1 access mode is required");
  if (selector !== undefined) validateLabelSelector(selector, path.child("selector"), errors);
  for (const mode of accessModes) checkChoice({ path: modes, value: mode, among: ACCESS_MODES }, errors);
  if (accessModes.includes("ReadWriteOncePod") && accessModes.some((mode) => mode !== "ReadWriteOncePod")) {
    errors.forbidden(modes, "may not use ReadWriteOncePod with other access modes");
  }
  checkStorage(spec.resources.requests?.["storage"], path.child("resources").key("storage"), errors);
  if (storageClassName !== "") {
    errors.invalidFor(path.child("storageClassName"), storageClassName, dns1123Subdomain(storageClassName));
  }
  checkChoice({ path: path.child("volumeMode"), value: volumeMode, among: VOLUME_MODES }, errors);
}

function checkStorage(amount: string | undefined, path: FieldPath, errors: FieldErrors): void {
  if (amount === undefined) errors.required(path);
  else if (parseQuantity(amount).nano <= 0n) errors.invalid(path, amount, "must be greater than zero");
}
