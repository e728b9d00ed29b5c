/** RuntimeClass: the container runtime of a pod. */

import { fieldPath } from "../../api/errors/field-error.ts";
import type { RuntimeClass } from "../../api/generated/types/node-v1.ts";
import { validateLabels } from "../../api/selectors/label-selector.ts";
import { dns1123Label } from "../../api/values/names.ts";
import { labelWarnings } from "../node/node-label-warnings.ts";
import { ageText } from "../rules/human-duration.ts";
import { defineKind } from "../rules/kind-rules.ts";
import { checkAmount } from "../rules/resource-amount.ts";
import { checkContainerResourceName } from "../rules/resource-name.ts";
import { checkTolerations } from "./toleration-rules.ts";

export const runtimeClass = defineKind<RuntimeClass>("node.k8s.io/v1", "RuntimeClass", {
  validate({ handler, overhead, scheduling }, errors) {
    errors.invalidFor("handler", handler, dns1123Label(handler));
    for (const [name, amount] of Object.entries(overhead?.podFixed ?? {})) {
      // Upstream validates the overhead with the rules, and the path, of container limits.
      const path = fieldPath("overhead", "podFixed", "limits").key(name);
      checkContainerResourceName(name, path, errors);
      checkAmount({ name, amount }, path, errors);
    }
    validateLabels(scheduling?.nodeSelector ?? {}, fieldPath("scheduling", "nodeSelector"), errors);
    checkTolerations(scheduling?.tolerations ?? [], fieldPath("scheduling", "tolerations"), errors);
  },

  validateUpdate(next, previous, errors) {
    errors.immutable("handler", next.handler, previous.handler);
  },

  warnings: ({ scheduling }) =>
    Object.keys(scheduling?.nodeSelector ?? {}).flatMap((label) =>
      labelWarnings(label, fieldPath("scheduling", "nodeSelector"), "path"),
    ),

  cells: (it, now) => [it.metadata.name, it.handler, ageText(it, now)],
});
