/** Validates the spec of a PersistentVolume, or the inline volume of a VolumeAttachment. */

import type { FieldErrors, FieldPath } from "../../api/errors/field-error.ts";
import type { PersistentVolumeSpec } from "../../api/generated/types/core-v1.ts";
import { dns1123Subdomain } from "../../api/values/names.ts";
import { parseQuantity, quantityValue } from "../../api/values/quantity.ts";
import { checkNodeSelector } from "../node/node-selector-rules.ts";
import { checkChoice } from "../rules/value-rules.ts";
import { checkAccessModes } from "./access-modes.ts";
import { checkVolumeSource } from "./volume-source-rules.ts";

export interface VolumePlace {
  readonly path: FieldPath;
  /** True for the inline volume of an attachment, which is no object of its own. */
  readonly isInline: boolean;
}

export function checkVolumeSpec(
  spec: PersistentVolumeSpec,
  { path, isInline }: VolumePlace,
  errors: FieldErrors,
): void {
  const modes = path.child("accessModes");
  if (isInline) refuseObjectFields(spec, path, errors);
  if ((spec.accessModes ?? []).length === 0) errors.required(modes);
  checkAccessModes(spec.accessModes ?? [], modes, errors);
  if (!isInline) checkObjectFields(spec, path, errors);
  checkVolumeSource(spec, path, errors);
  checkClasses(spec, path, errors);
}

function checkObjectFields(spec: PersistentVolumeSpec, path: FieldPath, errors: FieldErrors): void {
  checkCapacity(spec.capacity ?? {}, path.child("capacity"), errors);
  const policy = spec.persistentVolumeReclaimPolicy;
  const policyPath = path.child("persistentVolumeReclaimPolicy");
  checkChoice({ path: policyPath, value: policy, among: ["Delete", "Recycle", "Retain"] }, errors);
  const required = spec.nodeAffinity?.required;
  if (spec.nodeAffinity !== undefined && required === undefined) {
    errors.required(path.child("nodeAffinity", "required"), "must specify required node constraints");
  }
  if (required !== undefined)
    checkNodeSelector(required, { path: path.child("nodeAffinity", "required"), values: "strict" }, errors);
  if (spec.local !== undefined && required === undefined) {
    errors.required(path.child("nodeAffinity"), "Local volume requires node affinity");
  }
  if (spec.hostPath !== undefined && /^\/+$/.test(spec.hostPath.path) && policy === "Recycle") {
    errors.forbidden(policyPath, "may not be 'recycle' for a hostPath mount of '/'");
  }
  checkChoice(
    { path: path.child("volumeMode"), value: spec.volumeMode, among: ["Block", "Filesystem"] },
    errors,
  );
}

function checkCapacity(
  capacity: Readonly<Record<string, string>>,
  path: FieldPath,
  errors: FieldErrors,
): void {
  const names = Object.keys(capacity);
  if (names.length === 0) errors.required(path);
  if (capacity["storage"] === undefined || names.length > 1) errors.notSupported(path, capacity, ["storage"]);
  for (const [name, amount] of Object.entries(capacity)) {
    const quantity = parseQuantity(amount);
    if (quantityValue(quantity) < 0n) {
      errors.invalid(path.key(name), quantityValue(quantity), "must be a valid resource quantity");
    }
    if (quantity.nano <= 0n) errors.invalid(path.key(name), amount, "must be greater than zero");
  }
}

/** Refuses fields about claims, retention and topology. */
function refuseObjectFields(spec: PersistentVolumeSpec, path: FieldPath, errors: FieldErrors): void {
  for (const field of ["claimRef", "capacity", "nodeAffinity", "storageClassName"] as const) {
    if (spec[field] !== undefined) {
      errors.forbidden(path.child(field), "may not be specified in the context of inline volumes");
    }
  }
  if (spec.csi === undefined)
    errors.required(path.child("csi"), "has to be specified in the context of inline volumes");
  const policy = spec.persistentVolumeReclaimPolicy;
  if (policy !== undefined && policy !== "Retain") {
    const detail = "may only be Retain in the context of inline volumes";
    errors.forbidden(path.child("persistentVolumeReclaimPolicy"), detail);
  }
  if (spec.volumeMode !== undefined && spec.volumeMode !== "Filesystem") {
    const detail = "may not specify volumeMode other than Filesystem in the context of inline volumes";
    errors.forbidden(path.child("volumeMode"), detail);
  }
}

function checkClasses(spec: PersistentVolumeSpec, path: FieldPath, errors: FieldErrors): void {
  const { storageClassName, volumeAttributesClassName: attributes, csi } = spec;
  if (storageClassName !== undefined) {
    errors.invalidFor(path.child("storageClassName"), storageClassName, dns1123Subdomain(storageClassName));
  }
  if (attributes === undefined) return;
  const at = path.child("volumeAttributesClassName");
  if (attributes === "") errors.required(at, "an empty string is disallowed");
  else errors.invalidFor(at, attributes, dns1123Subdomain(attributes));
  if (csi === undefined) {
    errors.required(path.child("csi"), "has to be specified when using volumeAttributesClassName");
  }
}
