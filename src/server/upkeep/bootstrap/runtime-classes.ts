import { PROCESS_NODE, PROCESS_RUNTIME } from "../../../resources/pod/process-runtime.ts";
import type { Registry } from "../../objects/registry.ts";
import { requireStored } from "../../objects/registry.ts";
import type { RequiredObjects } from "../required-objects.ts";

/** The RuntimeClass of pods that run as processes of a node's machine. */
export function runtimeClasses(registry: Registry): RequiredObjects {
  return {
    name: "runtime classes",
    objects: [
      {
        resource: requireStored(registry, "node.k8s.io", "runtimeclasses"),
        namespace: "",
        name: PROCESS_RUNTIME,
        manifest: () => ({
          handler: PROCESS_RUNTIME,
          scheduling: {
            nodeSelector: { [PROCESS_NODE]: "true" },
            tolerations: [{ key: PROCESS_NODE, operator: "Exists", effect: "NoSchedule" }],
          },
        }),
      },
    ],
  };
}
