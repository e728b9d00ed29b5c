import { expect, test } from "vitest";
import { Deployment } from "../../api/generated/types/apps-v1.ts";
import { ConfigMap, Secret } from "../../api/generated/types/core-v1.ts";
import { defineController } from "./controller.ts";
import { permissionsOf } from "./permissions.ts";

test("the rules of controllers are those of their kinds, each once, with Events and the Lease", () => {
  const one = defineController<ConfigMap>({
    name: "one",
    for: ConfigMap,
    owns: [Deployment],
    reads: [Secret],
    finalizer: "example.com/one",
    reconcile: async () => undefined,
    finalize: async () => undefined,
  });
  const two = defineController<Secret>({ name: "two", for: Secret, reconcile: async () => undefined });

  expect(permissionsOf([one, two])).toEqual([
    { apiGroups: [""], resources: ["configmaps"], verbs: ["get", "list", "watch", "patch", "update"] },
    { apiGroups: [""], resources: ["configmaps/status"], verbs: ["get", "patch", "update"] },
    { apiGroups: [""], resources: ["configmaps/finalizers"], verbs: ["update"] },
    {
      apiGroups: ["apps"],
      resources: ["deployments"],
      verbs: ["get", "list", "watch", "create", "delete", "patch", "update"],
    },
    { apiGroups: [""], resources: ["secrets"], verbs: ["get", "list", "watch"] },
    { apiGroups: [""], resources: ["secrets/status"], verbs: ["get", "patch", "update"] },
    { apiGroups: ["", "events.k8s.io"], resources: ["events"], verbs: ["create", "patch", "update"] },
    { apiGroups: ["coordination.k8s.io"], resources: ["leases"], verbs: ["get", "create", "update"] },
  ]);
});
