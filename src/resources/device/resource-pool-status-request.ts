/** ResourcePoolStatusRequest: a request to count the free devices of a driver. */

import { fieldPath } from "../../api/errors/field-error.ts";
import type { PoolStatus, ResourcePoolStatusRequest } from "../../api/generated/types/resource-v1alpha3.ts";
import { defineKind } from "../rules/kind-rules.ts";
import { ALL_METADATA } from "../rules/metadata-parts.ts";
import { checkDriverName } from "../storage/csi-driver-name.ts";

type Count = "allocatedDevices" | "availableDevices" | "totalDevices" | "unavailableDevices";

export const resourcePoolStatusRequest = defineKind<ResourcePoolStatusRequest>(
  "resource.k8s.io/v1alpha3",
  "ResourcePoolStatusRequest",
  {
    validate({ spec }, errors) {
      checkDriverName(spec.driver, fieldPath("spec", "driver"), errors);
    },

    validateUpdate(next, previous, errors) {
      errors.immutable("spec", next.spec, previous.spec);
    },

    statusKeeps: ALL_METADATA,
    cells: ({ metadata, spec, status }) => {
      const pools = status?.pools ?? [];
      const complete = (status?.conditions ?? []).find(({ type }) => type === "Complete");
      const failed = pools.filter(({ validationError = "" }) => validationError !== "");
      return [
        metadata.name,
        spec.driver,
        sumText(pools, "totalDevices"),
        sumText(pools, "availableDevices"),
        sumText(pools, "allocatedDevices"),
        sumText(pools, "unavailableDevices"),
        String(failed.length),
        status?.poolCount ?? 0,
        complete?.status === "True" ? "Complete" : "Pending",
        complete?.lastTransitionTime ?? "",
      ];
    },
  },
);

function sumText(pools: readonly PoolStatus[], count: Count): string {
  let sum = 0;
  for (const pool of pools) sum += pool[count] ?? 0;
  return String(sum);
}
