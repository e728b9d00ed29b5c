/** StorageVersionMigration: a request to rewrite all objects of a resource in the storage version. */

import type { StorageVersionMigration } from "../../api/generated/types/storagemigration-v1beta1.ts";
import { defineKind } from "../rules/kind-rules.ts";
import { ALL_METADATA } from "../rules/metadata-parts.ts";

export const storageVersionMigration = defineKind<StorageVersionMigration>(
  "storagemigration.k8s.io/v1beta1",
  "StorageVersionMigration",
  {
    validate({ spec }, errors) {
      if (spec.resource.resource === "") errors.required("spec.resource.resource");
    },

    validateUpdate(next, previous, errors) {
      errors.immutable("spec", next.spec, previous.spec);
    },

    statusKeeps: ALL_METADATA,
    cells: ({ metadata, spec, status }) => {
      const { group, resource } = spec.resource;
      const holds = (status.conditions ?? []).find((condition) => condition.status === "True");
      return [metadata.name, group === "" ? resource : `${resource}.${group}`, holds?.type ?? "<unknown>"];
    },
  },
);
