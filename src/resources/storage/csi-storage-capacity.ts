/** CSIStorageCapacity: free space of a driver for volumes of a class, in one topology segment. */

import { type FieldErrors, fieldPath } from "../../api/errors/field-error.ts";
import type { CSIStorageCapacity } from "../../api/generated/types/storage-v1.ts";
import { validateLabelSelector } from "../../api/selectors/label-selector.ts";
import { dns1123Subdomain } from "../../api/values/names.ts";
import { parseQuantity } from "../../api/values/quantity.ts";
import { expressionWarnings, labelWarnings } from "../node/node-label-warnings.ts";
import { defineKind } from "../rules/kind-rules.ts";

export const csiStorageCapacity = defineKind<CSIStorageCapacity>("storage.k8s.io/v1", "CSIStorageCapacity", {
  validate(it, errors) {
    errors.invalidFor("storageClassName", it.storageClassName, dns1123Subdomain(it.storageClassName));
    if (it.nodeTopology !== undefined)
      validateLabelSelector(it.nodeTopology, fieldPath("nodeTopology"), errors);
    for (const field of ["capacity", "maximumVolumeSize"] as const)
      checkNotNegative(it[field], field, errors);
  },

  validateUpdate(next, previous, errors) {
    errors.immutable("nodeTopology", next.nodeTopology, previous.nodeTopology);
    errors.immutable("storageClassName", next.storageClassName, previous.storageClassName);
  },

  warnings({ nodeTopology = {} }) {
    const at = fieldPath("nodeTopology");
    const labels = Object.keys(nodeTopology.matchLabels ?? {});
    return [
      ...expressionWarnings(nodeTopology, at),
      ...labels.flatMap((label) => labelWarnings(label, at.child("matchLabels", label), "path")),
    ];
  },

  cells: ({ metadata, storageClassName, capacity }) => [
    metadata.name,
    storageClassName,
    capacity ?? "<unset>",
  ],
});

function checkNotNegative(amount: string | undefined, field: string, errors: FieldErrors): void {
  if (amount === undefined || parseQuantity(amount).nano >= 0n) return;
  errors.invalid(field, amount, "must be greater than or equal to 0");
}
