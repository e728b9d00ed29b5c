/** CSINode: the storage drivers on a node. */

import { type FieldErrors, type FieldPath, fieldPath } from "../../api/errors/field-error.ts";
import type { CSINode, CSINodeDriver } from "../../api/generated/types/storage-v1.ts";
import { qualifiedName } from "../../api/values/names.ts";
import { ageText } from "../rules/human-duration.ts";
import { defineKind } from "../rules/kind-rules.ts";
import { addNew, firstByText, isSame } from "../rules/value-rules.ts";
import { checkDriverName } from "./csi-driver-name.ts";

const DRIVERS = fieldPath("spec", "drivers");
const NODE_ID_MAX = 192;

export const csiNode = defineKind<CSINode>("storage.k8s.io/v1", "CSINode", {
  validate({ spec }, errors) {
    const names = new Set<string>();
    for (const [i, driver] of spec.drivers.entries()) {
      checkDriver(driver, DRIVERS.index(i), errors);
      if (!addNew(names, driver.name)) errors.duplicate(DRIVERS.index(i).child("name"), driver.name);
    }
  },

  /** Attached volumes rely on the driver's entry, so only its volume limit may change. */
  validateUpdate({ spec: next }, { spec: previous }, errors) {
    const drivers = firstByText(next.drivers, ({ name }) => name);
    for (const before of previous.drivers) {
      const after = drivers.get(before.name);
      if (after === undefined) continue;
      const { allocatable: _, ...fixed } = before;
      const { allocatable: __, ...now } = after;
      if (!isSame(fixed, now)) errors.invalid("CSINodeDriver", after, "field is immutable");
    }
  },

  cells: (it, now) => [it.metadata.name, it.spec.drivers.length, ageText(it, now)],
});

function checkDriver(
  { name, nodeID, topologyKeys, allocatable }: CSINodeDriver,
  path: FieldPath,
  errors: FieldErrors,
): void {
  checkDriverName(name, path.child("name"), errors);
  if (nodeID === "") errors.required(path.child("nodeID"));
  else if (Buffer.byteLength(nodeID) > NODE_ID_MAX) {
    errors.invalid(path.child("nodeID"), nodeID, `must be ${NODE_ID_MAX} characters or less`);
  }
  if (allocatable?.count !== undefined && allocatable.count < 0) {
    errors.invalid(
      path.child("allocatable", "count"),
      allocatable.count,
      "must be greater than or equal to 0",
    );
  }
  const keys = new Set<string>();
  for (const key of topologyKeys) {
    if (!addNew(keys, key)) errors.duplicate(path, key);
    errors.invalidFor(path, key, qualifiedName(key));
  }
}
