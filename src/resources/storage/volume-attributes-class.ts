/** VolumeAttributesClass: mutable attributes of volumes. */

import type { VolumeAttributesClass } from "../../api/generated/types/storage-v1.ts";
import { ageText } from "../rules/human-duration.ts";
import { defineKind } from "../rules/kind-rules.ts";
import { isSame } from "../rules/value-rules.ts";
import { checkParameters, checkProvisioner } from "./class-parameters.ts";

export const volumeAttributesClass = defineKind<VolumeAttributesClass>(
  "storage.k8s.io/v1",
  "VolumeAttributesClass",
  {
    validate(it, errors) {
      checkProvisioner(it.driverName, "driverName", errors);
      if (it.parameters === undefined)
        errors.required("parameters", "must contain at least one key/value pair");
      else checkParameters(it.parameters, errors);
    },

    validateUpdate(next, previous, errors) {
      for (const field of ["driverName", "parameters"] as const) {
        if (!isSame(next[field], previous[field]))
          errors.forbidden(field, `updates to ${field} are forbidden.`);
      }
    },

    cells: (it, now) => [it.metadata.name, it.driverName, ageText(it, now)],
  },
);
