/** ResourceClaim: somebody's wish for devices, and what they got. */

import { type FieldErrors, fieldPath } from "../../api/field-error.ts";
import type { ResourceClaim } from "../../api/generated/types/resource-v1.ts";
import { ageText } from "../human-duration.ts";
import { defineKind } from "../kind-rules.ts";
import { addNew, isSame } from "../value-rules.ts";
import { checkClaimSpec, claimSpecDefaults } from "./claim-spec.ts";
import { checkDriver, checkPoolName } from "./driver-name.ts";

const STATUS = fieldPath("status");
const CONSUMERS_MAX = 256;

export const resourceClaim = defineKind<ResourceClaim>("resource.k8s.io/v1", "ResourceClaim", {
  defaults: ({ spec }) => claimSpecDefaults(spec),

  validate({ spec }, errors) {
    checkClaimSpec(spec, fieldPath("spec"), errors);
  },

  validateUpdate(next, previous, errors) {
    errors.immutable("spec", next.spec, previous.spec);
  },

  validateStatus(next, previous, errors) {
    checkAllocation(next, previous, errors);
    checkConsumers(next, previous, errors);
  },

  cells: (it, now) => [it.metadata.name, stateText(it), ageText(it, now)],
});

/** Devices are given once; to change them they are given back first. */
function checkAllocation(next: ResourceClaim, previous: ResourceClaim, errors: FieldErrors): void {
  const { allocation } = next.status;
  const before = previous.status.allocation;
  const path = STATUS.child("allocation");
  if (allocation !== undefined && before !== undefined && !isSame(allocation, before)) {
    errors.immutable(path, allocation, before);
  }
  for (const [i, { request, driver, pool, device }] of (allocation?.devices.results ?? []).entries()) {
    const at = path.child("devices", "results").index(i);
    if (request === "") errors.required(at.child("request"));
    checkDriver(driver, at.child("driver"), errors);
    checkPoolName(pool, at.child("pool"), errors);
    if (device === "") errors.required(at.child("device"));
  }
}

function checkConsumers(next: ResourceClaim, previous: ResourceClaim, errors: FieldErrors): void {
  const { reservedFor = [], allocation } = next.status;
  const path = STATUS.child("reservedFor");
  if (reservedFor.length > CONSUMERS_MAX) errors.tooMany(path, reservedFor.length, CONSUMERS_MAX);
  if (reservedFor.length > 0 && allocation === undefined) {
    errors.forbidden(path, "may not be specified when `allocated` is not set");
  }
  const isAdded = reservedFor.length > (previous.status.reservedFor ?? []).length;
  if (next.metadata.deletionTimestamp !== undefined && isAdded) {
    errors.forbidden(
      path,
      "new entries may not be added while `deallocationRequested` or `deletionTimestamp` are set",
    );
  }
  const uids = new Set<string>();
  for (const [i, consumer] of reservedFor.entries()) {
    for (const field of ["resource", "name", "uid"] as const) {
      if (consumer[field] === "") errors.required(path.index(i).child(field));
    }
    if (!addNew(uids, consumer.uid)) errors.duplicate(path.index(i).child("uid"), consumer.uid);
  }
}

function stateText({ metadata, status }: ResourceClaim): string {
  const isDeleted = metadata.deletionTimestamp !== undefined;
  const states = [
    ...(isDeleted ? ["deleted"] : []),
    ...(status.allocation === undefined ? (isDeleted ? [] : ["pending"]) : ["allocated"]),
    ...((status.reservedFor ?? []).length > 0 ? ["reserved"] : []),
  ];
  return states.join(",");
}
