import type { Registry } from "../../objects/registry.ts";
import { requireStored } from "../../objects/registry.ts";
import type { RequiredObjects } from "../required-objects.ts";

const NAMES = ["default", "kube-system", "kube-public", "kube-node-lease"];

/** The namespaces that every cluster has. The rules of the kind set their label. */
export function systemNamespaces(registry: Registry): RequiredObjects {
  const resource = requireStored(registry, "", "namespaces");
  return {
    name: "system namespaces",
    boot: ["poststarthook/start-system-namespaces-controller"],
    objects: NAMES.map((name) => ({ resource, namespace: "", name, manifest: () => ({}) })),
  };
}
