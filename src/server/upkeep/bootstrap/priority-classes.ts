import type { Registry } from "../../objects/registry.ts";
import { requireStored } from "../../objects/registry.ts";
import type { RequiredObjects } from "../required-objects.ts";

/** The values lie above those of users, which end at a billion. */
const CLASSES = [
  {
    name: "system-cluster-critical",
    value: 2_000_000_000,
    description: "For pods without which the cluster does not work, on whatever node they run.",
  },
  {
    name: "system-node-critical",
    value: 2_000_001_000,
    description: "For pods without which their node does not work.",
  },
];

/** The two priority classes of system pods. */
export function systemPriorityClasses(registry: Registry): RequiredObjects {
  const resource = requireStored(registry, "scheduling.k8s.io", "priorityclasses");
  return {
    name: "system priority classes",
    boot: ["poststarthook/scheduling/bootstrap-system-priority-classes"],
    objects: CLASSES.map(({ name, value, description }) => ({
      resource,
      namespace: "",
      name,
      manifest: () => ({ value, description, preemptionPolicy: "PreemptLowerPriority" }),
    })),
  };
}
