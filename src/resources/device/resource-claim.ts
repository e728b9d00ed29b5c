/** ResourceClaim: a request for devices, and the devices allocated for it. */

import { fieldPath } from "../../api/errors/field-error.ts";
import type { ResourceClaim } from "../../api/generated/types/resource-v1.ts";
import { ageText } from "../rules/human-duration.ts";
import { defineKind } from "../rules/kind-rules.ts";
import { ALL_METADATA } from "../rules/metadata-parts.ts";
import { deallocatedDevices, deviceKey } from "./allocated-devices.ts";
import { checkClaimSpec, claimSpecDefaults } from "./claim-spec.ts";
import { checkAllocation, checkConsumerList, checkConsumers, checkDeviceStatuses } from "./claim-status.ts";

const STATUS = fieldPath("status");

export const resourceClaim = defineKind<ResourceClaim>("resource.k8s.io/v1", "ResourceClaim", {
  defaults: ({ spec }) => claimSpecDefaults(spec),

  validate({ spec }, errors) {
    checkClaimSpec(spec, fieldPath("spec"), errors);
  },

  validateUpdate(next, previous, errors) {
    errors.immutable("spec", next.spec, previous.spec);
  },

  statusKeeps: ALL_METADATA,
  /** Deallocation also deletes the device statuses, so that clients need not delete them. */
  prepareStatus({ status }, previous) {
    const gone = deallocatedDevices(status as ResourceClaim["status"], previous.status);
    const kept = (status.devices ?? []).filter((device) => !gone.has(deviceKey(device)));
    if (kept.length > 0) status.devices = kept;
    else delete status.devices;
  },

  validateStatus(next, previous, errors) {
    checkConsumerList(next.status, STATUS.child("reservedFor"), errors);
    checkDeviceStatuses(next.status, STATUS.child("devices"), errors);
    checkConsumers(next, previous, errors);
    checkAllocation(next, { previous, path: STATUS.child("allocation") }, errors);
  },

  cells: (it, now) => [it.metadata.name, stateText(it), ageText(it, now)],
});

function stateText({ metadata, status }: ResourceClaim): string {
  const isDeleted = metadata.deletionTimestamp !== undefined;
  const states = [
    ...(isDeleted ? ["deleted"] : []),
    ...(status.allocation === undefined ? (isDeleted ? [] : ["pending"]) : ["allocated"]),
    ...((status.reservedFor ?? []).length > 0 ? ["reserved"] : []),
  ];
  return states.join(",");
}
