/** MutatingAdmissionPolicyBinding: where a mutating policy applies. */

import type { MutatingAdmissionPolicyBinding } from "../../api/generated/types/admissionregistration-v1.ts";
import { ageText } from "../rules/human-duration.ts";
import { defineKind } from "../rules/kind-rules.ts";
import { bindingDefaults, checkBindingSpec, paramRefText } from "./admission-policy-rules.ts";

export const mutatingAdmissionPolicyBinding = defineKind<MutatingAdmissionPolicyBinding>(
  "admissionregistration.k8s.io/v1",
  "MutatingAdmissionPolicyBinding",
  {
    defaults: ({ spec }) => bindingDefaults(spec),
    validate: ({ spec }, errors) => checkBindingSpec(spec, errors),
    cells: (it, now) => [
      it.metadata.name,
      it.spec.policyName ?? "",
      paramRefText(it.spec.paramRef),
      ageText(it, now),
    ],
  },
);
