/** PersistentVolumeClaim: a request for storage. */

import { type FieldErrors, type FieldPath, fieldPath } from "../../api/errors/field-error.ts";
import type { PersistentVolumeClaim, PersistentVolumeClaimSpec } from "../../api/generated/types/core-v1.ts";
import { dns1123Subdomain, qualifiedName } from "../../api/values/names.ts";
import { compareQuantities, parseQuantity, quantityValue } from "../../api/values/quantity.ts";
import { specDiff } from "../pod/spec-diff.ts";
import { checkClaimSpec } from "../pod/volume/claim-rules.ts";
import { claimWarnings } from "../pod/volume/volume-warnings.ts";
import { ageText } from "../rules/human-duration.ts";
import { defineKind } from "../rules/kind-rules.ts";
import { isSelectorValueError } from "../rules/tolerated-errors.ts";
import { isSame } from "../rules/value-rules.ts";
import { accessModesText } from "./access-modes.ts";
import { checkDataSources, syncDataSources } from "./claim-sources.ts";
import { CLASS_ANNOTATION, classAnnotationWarnings, classText, phaseText } from "./persistent-volume.ts";

const SPEC = fieldPath("spec");
const STATUS = fieldPath("status");
const RESIZE_STATES = [
  "ControllerResizeInProgress",
  "ControllerResizeInfeasible",
  "NodeResizePending",
  "NodeResizeInProgress",
  "NodeResizeInfeasible",
];

export const persistentVolumeClaim = defineKind<PersistentVolumeClaim>("v1", "PersistentVolumeClaim", {
  defaults({ spec, status }) {
    status.phase ??= "Pending";
    spec.volumeMode ??= "Filesystem";
  },

  prepareCreate(draft) {
    draft.status = { phase: "Pending" };
    syncDataSources(draft.spec);
  },

  validate({ spec }, errors) {
    checkClaimSpec(spec, SPEC, errors);
    checkDataSources(spec, SPEC, errors);
    const { volumeAttributesClassName: name = "" } = spec;
    if (name !== "") errors.invalidFor(SPEC.child("volumeAttributesClassName"), name, dns1123Subdomain(name));
  },

  tolerates: isSelectorValueError,

  validateUpdate(next, previous, errors) {
    checkClassAnnotation(next, previous, errors);
    checkFixedSpec(next, previous, errors);
    checkSize(next, previous, errors);
    errors.immutable("volumeMode", next.spec.volumeMode, previous.spec.volumeMode);
    checkAttributesClass(next, previous, errors);
  },

  validateStatus({ spec, status }, _previous, errors) {
    if ((spec.accessModes ?? []).length === 0) errors.required("Spec.accessModes");
    checkAmounts(status.capacity ?? {}, STATUS.child("capacity"), errors);
    const path = STATUS.child("allocatedResourceStatuses");
    for (const [name, state] of Object.entries(status.allocatedResourceStatuses ?? {})) {
      checkResourceKey(name, path, errors);
      if (!RESIZE_STATES.includes(state)) errors.notSupported(path, name, RESIZE_STATES.toSorted());
    }
    const allocated = status.allocatedResources ?? {};
    for (const name of Object.keys(allocated))
      checkResourceKey(name, STATUS.child("allocatedResources"), errors);
    checkAmounts(allocated, STATUS.child("allocatedResources"), errors);
  },

  warnings: ({ metadata, spec }) => [...classAnnotationWarnings(metadata), ...claimWarnings(spec, SPEC)],

  cells: (it, now) => [
    it.metadata.name,
    phaseText(it),
    it.spec.volumeName ?? "",
    ...boundCells(it),
    classText(it),
    it.spec.volumeAttributesClassName ?? "<unset>",
    ageText(it, now),
    it.spec.volumeMode ?? "<unset>",
  ],
});

/** Size and access modes of the bound volume; empty before binding. */
function boundCells({ spec, status }: PersistentVolumeClaim): readonly [string, string] {
  if ((spec.volumeName ?? "") === "") return ["", ""];
  return [status.capacity?.["storage"] ?? "0", accessModesText(status.accessModes ?? [])];
}

/** The spec is immutable, because quotas charge it. After binding, size and attributes class may change. */
function checkFixedSpec(
  next: PersistentVolumeClaim,
  previous: PersistentVolumeClaim,
  errors: FieldErrors,
): void {
  const before = comparable(previous.spec);
  const after = comparable(next.spec);
  if ((previous.spec.volumeName ?? "") === "") takeOver(before, after, "volumeName");
  if (previous.spec.storageClassName === undefined && mayNameClass(next, previous)) {
    takeOver(before, after, "storageClassName");
  }
  if (next.status.phase === "Bound") {
    before["resources"] = withStorageOf(previous.spec, next.spec);
    before["volumeAttributesClassName"] = after["volumeAttributesClassName"];
    if (after["volumeAttributesClassName"] === undefined) delete before["volumeAttributesClassName"];
  }
  if (isSame(before, after)) return;
  const diff = specDiff("core.PersistentVolumeClaimSpec", before, after);
  const detail = `spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims\n${diff}`;
  errors.forbidden(SPEC, detail);
}

/** The annotation may be removed when the field replaces it. */
function checkClassAnnotation(
  next: PersistentVolumeClaim,
  previous: PersistentVolumeClaim,
  errors: FieldErrors,
): void {
  const annotation = next.metadata.annotations?.[CLASS_ANNOTATION];
  const before = previous.metadata.annotations?.[CLASS_ANNOTATION];
  if (annotation === undefined && next.spec.storageClassName === before) return;
  errors.immutable(`metadata.annotations.${CLASS_ANNOTATION}`, annotation ?? "", before ?? "");
}

/** A mutable copy. */
function comparable(spec: PersistentVolumeClaimSpec): Record<string, unknown> {
  return { ...spec };
}

/** Skips an absent field, so that both specs stay comparable. */
function takeOver(
  target: Record<string, unknown>,
  source: Readonly<Record<string, unknown>>,
  field: string,
): void {
  if (source[field] !== undefined) target[field] = source[field];
}

function withStorageOf(spec: PersistentVolumeClaimSpec, next: PersistentVolumeClaimSpec): object {
  const storage = next.resources.requests?.["storage"];
  const requests = { ...spec.resources.requests, ...(storage === undefined ? {} : { storage }) };
  return { ...spec.resources, requests };
}

/** A claim without a class may get one; it must equal an existing annotation. */
function mayNameClass({ spec }: PersistentVolumeClaim, { metadata }: PersistentVolumeClaim): boolean {
  const annotation = metadata.annotations?.[CLASS_ANNOTATION];
  return (
    spec.storageClassName !== undefined && (annotation === undefined || annotation === spec.storageClassName)
  );
}

/** A volume cannot shrink. A failed expansion may be undone, down to the actual size. */
function checkSize(next: PersistentVolumeClaim, previous: PersistentVolumeClaim, errors: FieldErrors): void {
  const size = parseQuantity(next.spec.resources.requests?.["storage"] ?? "0");
  const before = parseQuantity(previous.spec.resources.requests?.["storage"] ?? "0");
  const actual = parseQuantity(previous.status.capacity?.["storage"] ?? "0");
  if (compareQuantities(size, before) >= 0 || compareQuantities(size, actual) > 0) return;
  errors.forbidden("spec.resources.requests.storage", "field can not be less than status.capacity");
}

/**
 * A volume with an attributes class must keep one; a request that never took effect may be removed. The
 * status is equal in both versions.
 */
function checkAttributesClass(
  { spec: { volumeAttributesClassName: next }, status }: PersistentVolumeClaim,
  { spec: previous }: PersistentVolumeClaim,
  errors: FieldErrors,
): void {
  if (next === previous.volumeAttributesClassName) return;
  if (status.currentVolumeAttributesClassName === undefined || (next ?? "") !== "") return;
  const what = next === undefined ? "nil" : "empty string";
  const detail = `update to ${what} is forbidden when status.currentVolumeAttributesClassName is not nil`;
  errors.forbidden(SPEC.child("volumeAttributesClassName"), detail);
}

function checkAmounts(list: Readonly<Record<string, string>>, path: FieldPath, errors: FieldErrors): void {
  for (const [name, amount] of Object.entries(list)) {
    const value = quantityValue(parseQuantity(amount));
    if (value < 0n) errors.invalid(path.key(name), value, "must be a valid resource quantity");
  }
}

function checkResourceKey(name: string, path: FieldPath, errors: FieldErrors): void {
  const problems = qualifiedName(name);
  errors.invalidFor(path, name, problems);
  const isNative = !name.includes("/") || name.includes("kubernetes.io/");
  if (problems.length === 0 && isNative && name !== "storage") errors.notSupported(path, name, ["storage"]);
}
