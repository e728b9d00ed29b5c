/** ExtendedResourceToleration: adds tolerations for the taints of nodes that are reserved for a requested device. */
import type { Pod } from "../../../../api/generated/types/core-v1.ts";
import { isExtendedResource } from "../../../../resources/rules/resource-name.ts";
import { definePlugin } from "../../plugin.ts";

export const extendedResourceToleration = definePlugin<Pod>({
  name: "ExtendedResourceToleration",
  interests: [{ resources: ["pods"], operations: ["CREATE", "UPDATE"] }],

  mutate({ spec }) {
    const asked = [...spec.containers, ...(spec.initContainers ?? [])]
      .flatMap(({ resources }) => Object.keys(resources.requests ?? {}))
      .filter(isExtendedResource);
    const { tolerations = [] } = spec;
    const missing = [...new Set(asked)]
      .toSorted()
      .filter(
        (name) =>
          !tolerations.some(({ key, operator, effect, value = "" }) => {
            return key === name && operator === "Exists" && effect === "NoSchedule" && value === "";
          }),
      )
      .map((key) => ({ effect: "NoSchedule" as const, key, operator: "Exists" as const }));
    if (missing.length > 0) spec.tolerations = [...tolerations, ...missing];
  },
});
