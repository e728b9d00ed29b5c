/** Plugins of one rule each, which are off unless asked for. */
import { notFound } from "../../../api/errors/api-error.ts";
import type { Namespace, Pod, Service } from "../../../api/generated/types/core-v1.ts";
import { shelf } from "../../objects/lister.ts";
import { definePlugin } from "../plugin.ts";
import { refusal } from "../refusal.ts";

const NAMESPACES = shelf<Namespace>("namespaces");
const HOST = "kubernetes.io/hostname";

/** DenyServiceExternalIPs: nobody takes the traffic of an address by naming it. Those that are there may stay. */
export const denyServiceExternalIps = definePlugin<Service>({
  name: "DenyServiceExternalIPs",
  interests: [{ resources: ["services"], operations: ["CREATE", "UPDATE"] }],

  validate({ spec }, request) {
    const { externalIPs: known = [] } = (request.previous as Service | undefined)?.spec ?? {};
    if ((spec.externalIPs ?? []).every((address) => known.includes(address))) return;
    throw refusal(request, "Use of external IPs is denied by admission control.");
  },
});

/** LimitPodHardAntiAffinityTopology: a pod may keep others off a node, not off a zone. */
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

/** NamespaceExists: nothing is written where there is no namespace, not even for the last time. */
export const namespaceExists = definePlugin({
  name: "NamespaceExists",
  interests: [{ resources: "all in namespaces", operations: ["CREATE", "UPDATE", "DELETE"] }],

  validate(_object, { memory, namespace }) {
    if (memory.find(NAMESPACES, namespace) === undefined)
      throw notFound({ group: "", resource: "namespaces" }, namespace);
  },
});
