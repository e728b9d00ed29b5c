import type { Registry } from "../registry.ts";
import { requireStored } from "../registry.ts";
import type { Chore } from "./chore.ts";

const NAMES = ["default", "kube-system", "kube-public", "kube-node-lease"];

/** The namespaces that everybody takes for granted. Their label is a rule of the kind. */
export function systemNamespaces(registry: Registry): Chore {
  const resource = requireStored(registry, "", "namespaces");
  return {
    name: "system namespaces",
    boot: ["poststarthook/start-system-namespaces-controller"],
    objects: NAMES.map((name) => ({ resource, namespace: "", name, manifest: () => ({}) })),
  };
}
