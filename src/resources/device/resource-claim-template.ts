/** ResourceClaimTemplate: the template of the claims that are generated for pods. */

import { fieldPath } from "../../api/errors/field-error.ts";
import type { ResourceClaimTemplate } from "../../api/generated/types/resource-v1.ts";
import { validateAnnotations } from "../../api/metadata.ts";
import { validateLabels } from "../../api/selectors/label-selector.ts";
import { ageText } from "../rules/human-duration.ts";
import { defineKind } from "../rules/kind-rules.ts";
import { checkClaimSpec, claimSpecDefaults } from "./claim-spec.ts";

const METADATA = fieldPath("spec", "metadata");

export const resourceClaimTemplate = defineKind<ResourceClaimTemplate>(
  "resource.k8s.io/v1",
  "ResourceClaimTemplate",
  {
    defaults: ({ spec }) => claimSpecDefaults(spec.spec),

    validate({ spec }, errors) {
      validateLabels(spec.metadata.labels ?? {}, METADATA.child("labels"), errors);
      validateAnnotations(spec.metadata.annotations ?? {}, METADATA.child("annotations"), errors);
      checkClaimSpec(spec.spec, fieldPath("spec", "spec"), errors);
    },

    validateUpdate(next, previous, errors) {
      errors.immutable("spec", next.spec, previous.spec);
    },

    cells: (it, now) => [it.metadata.name, ageText(it, now)],
  },
);
