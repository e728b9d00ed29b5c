/** ValidatingAdmissionPolicyBinding: where a policy applies, and the actions on a violation. */

import type { ValidatingAdmissionPolicyBinding } from "../../api/generated/types/admissionregistration-v1.ts";
import { ageText } from "../rules/human-duration.ts";
import { defineKind } from "../rules/kind-rules.ts";
import { addNew } from "../rules/value-rules.ts";
import { bindingDefaults, checkBindingSpec, paramRefText, SPEC } from "./admission-policy-rules.ts";

const ACTIONS = ["Audit", "Deny", "Warn"];

export const validatingAdmissionPolicyBinding = defineKind<ValidatingAdmissionPolicyBinding>(
  "admissionregistration.k8s.io/v1",
  "ValidatingAdmissionPolicyBinding",
  {
    defaults: ({ spec }) => bindingDefaults(spec),

    validate({ spec }, errors) {
      const { validationActions: actions = [] } = spec;
      const path = SPEC.child("validationActions");
      checkBindingSpec(spec, errors);
      if (actions.length === 0) errors.required(path);
      const seen = new Set<string>();
      for (const [i, action] of actions.entries()) {
        if (!ACTIONS.includes(action)) errors.notSupported(path.index(i), action, ACTIONS);
        if (!addNew<string>(seen, action)) errors.duplicate(path.index(i), action);
      }
      if (seen.has("Deny") && seen.has("Warn")) {
        const detail =
          "must not contain both Deny and Warn (repeating the same validation failure information in the API response and headers serves no purpose)";
        errors.invalid(path, actions, detail);
      }
    },

    cells: (it, now) => [
      it.metadata.name,
      it.spec.policyName ?? "",
      paramRefText(it.spec.paramRef),
      ageText(it, now),
    ],
  },
);
