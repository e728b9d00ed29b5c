/** Small plugins with one rule each, off by default. */
import { notFound } from "../../../api/errors/api-error.ts";
import type { Namespace, Pod, Service } from "../../../api/generated/types/core-v1.ts";
import { kindPrefix } from "../../objects/lister.ts";
import { definePlugin } from "../plugin.ts";
import { refusal } from "../refusal.ts";

const NAMESPACES = kindPrefix<Namespace>("namespaces");
const HOST = "kubernetes.io/hostname";

/**
 * DenyServiceExternalIPs: refuses new external IPs, because a Service could capture the traffic of any address.
 * Existing ones may stay.
 */
export const denyServiceExternalIps = definePlugin<Service>({
  name: "DenyServiceExternalIPs",
  interests: [{ resources: ["services"], operations: ["CREATE", "UPDATE"] }],

  validate({ spec }, request) {
    const { externalIPs: known = [] } = (request.previous as Service | undefined)?.spec ?? {};
    if ((spec.externalIPs ?? []).every((address) => known.includes(address))) return;
    throw refusal(request, "Use of external IPs is denied by admission control.");
  },
});

/** LimitPodHardAntiAffinityTopology: required anti-affinity may exclude pods from a node, not from a zone. */
export const limitPodHardAntiAffinityTopology = definePlugin<Pod>({
  name: "LimitPodHardAntiAffinityTopology",
  interests: [{ resources: ["pods"], operations: ["CREATE", "UPDATE"] }],

  validate({ spec }, request) {
    const terms = spec.affinity?.podAntiAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? [];
    const other = terms.find(({ topologyKey }) => topologyKey !== HOST);
    if (other === undefined) return;
    const why = `affinity.PodAntiAffinity.RequiredDuringScheduling has TopologyKey ${other.topologyKey} but only key ${HOST} is allowed`;
    throw refusal(request, why);
  },
});

/** NamespaceExists: refuses every write in a missing namespace, even a delete. */
export const namespaceExists = definePlugin({
  name: "NamespaceExists",
  interests: [{ resources: "all in namespaces", operations: ["CREATE", "UPDATE", "DELETE"] }],

  validate(_object, { memory, namespace }) {
    if (memory.find(NAMESPACES, namespace) === undefined)
      throw notFound({ group: "", resource: "namespaces" }, namespace);
  },
});
