/** StorageClass: settings for the provisioning of volumes. */

import { type FieldErrors, type FieldPath, fieldPath } from "../../api/errors/field-error.ts";
import type { TopologySelectorTerm } from "../../api/generated/types/core-v1.ts";
import type { StorageClass } from "../../api/generated/types/storage-v1.ts";
import { labelValue, qualifiedName } from "../../api/values/names.ts";
import { labelWarnings } from "../node/node-label-warnings.ts";
import { ageText } from "../rules/human-duration.ts";
import { defineKind } from "../rules/kind-rules.ts";
import { addNew, checkChoice, checkRequiredChoice, isSame } from "../rules/value-rules.ts";
import { checkParameters, checkProvisioner } from "./class-parameters.ts";

const DEFAULT_CLASS = [
  "storageclass.kubernetes.io/is-default-class",
  "storageclass.beta.kubernetes.io/is-default-class",
];

export const storageClass = defineKind<StorageClass>("storage.k8s.io/v1", "StorageClass", {
  defaults(draft) {
    draft.reclaimPolicy ??= "Delete";
    draft.volumeBindingMode ??= "Immediate";
  },

  validate(it, errors) {
    checkProvisioner(it.provisioner, "provisioner", errors);
    checkParameters(it.parameters ?? {}, errors);
    checkChoice(
      { path: fieldPath("reclaimPolicy"), value: it.reclaimPolicy, among: ["Delete", "Retain"] },
      errors,
    );
    const modes = ["Immediate", "WaitForFirstConsumer"];
    checkRequiredChoice(
      { path: fieldPath("volumeBindingMode"), value: it.volumeBindingMode, among: modes },
      errors,
    );
    checkTopologies(it.allowedTopologies ?? [], errors);
  },

  validateUpdate(next, previous, errors) {
    for (const field of ["parameters", "provisioner", "reclaimPolicy"] as const) {
      if (!isSame(next[field], previous[field]))
        errors.forbidden(field, `updates to ${field} are forbidden.`);
    }
    errors.immutable("volumeBindingMode", next.volumeBindingMode, previous.volumeBindingMode);
  },

  warnings: ({ allowedTopologies = [] }) =>
    allowedTopologies.flatMap(({ matchLabelExpressions = [] }, i) =>
      matchLabelExpressions.flatMap(({ key }, j) => {
        const at = fieldPath("allowedTopologies").index(i).child("matchLabelExpressions").index(j);
        return labelWarnings(key, at.child("key"), "path");
      }),
    ),

  cells: (it, now) => [
    isDefaultClass(it) ? `${it.metadata.name} (default)` : it.metadata.name,
    it.provisioner,
    it.reclaimPolicy ?? "Delete",
    it.volumeBindingMode ?? "Immediate",
    it.allowVolumeExpansion ?? false,
    ageText(it, now),
  ],
});

/** The default class for claims without a class. */
function isDefaultClass({ metadata: { annotations } }: StorageClass): boolean {
  return DEFAULT_CLASS.some((key) => annotations?.[key] === "true");
}

function checkTopologies(terms: readonly TopologySelectorTerm[], errors: FieldErrors): void {
  // Upstream treats an empty term as a duplicate, even the first one.
  const seen = new Set([identity({})]);
  for (const [i, term] of terms.entries()) {
    const path = fieldPath("allowedTopologies").index(i).child("matchLabelExpressions");
    checkTerm(term, path, errors);
    if (!addNew(seen, identity(term))) errors.duplicate(path, "");
  }
}

/** Text of a term, independent of the order. Sets of texts make the check fast for thousands of terms. */
function identity({ matchLabelExpressions = [] }: TopologySelectorTerm): string {
  const texts = matchLabelExpressions.map(({ key, values }) => JSON.stringify([key, values.toSorted()]));
  return texts.toSorted().join();
}

function checkTerm(
  { matchLabelExpressions = [] }: TopologySelectorTerm,
  path: FieldPath,
  errors: FieldErrors,
): void {
  const keys = new Set<string>();
  for (const [i, { key, values }] of matchLabelExpressions.entries()) {
    const at = path.index(i);
    if (!addNew(keys, key)) errors.duplicate(at.child("key"), key);
    errors.invalidFor(at.child("key"), key, qualifiedName(key));
    if (values.length === 0) errors.required(at.child("values"));
    const seen = new Set<string>();
    for (const [j, value] of values.entries()) {
      errors.invalidFor(at.child("values").index(j), value, labelValue(value));
      if (!addNew(seen, value)) errors.duplicate(at.child("values").index(j), value);
    }
  }
}
