/** Service: a stable name and address for a set of pods. The server allocates its addresses and ports. */

import type { Service, ServicePort } from "../../api/generated/types/core-v1.ts";
import { dns1123Label } from "../../api/values/names.ts";
import { ageText } from "../rules/human-duration.ts";
import { defineKind } from "../rules/kind-rules.ts";
import { labelsText } from "../workloads/workload-cells.ts";
import { checkServiceStatus, ingressPoints } from "./load-balancer-status.ts";
import { checkAddressChanges, checkServiceAddresses } from "./service-address-rules.ts";
import {
  dropFieldsOfOldType,
  keepAllocated,
  syncClusterIps,
  trimToSingleStack,
} from "./service-addresses.ts";
import { serviceDefaults } from "./service-defaults.ts";
import { checkService } from "./service-rules.ts";
import { needsHealthCheckPort } from "./service-shape.ts";
import { serviceWarnings } from "./service-warnings.ts";

export const service = defineKind<Service>("v1", "Service", {
  // Since v1.36 a name may begin with a digit.
  nameRule: dns1123Label,

  defaults: serviceDefaults,

  prepareCreate(draft) {
    syncClusterIps(draft.spec, undefined);
  },

  prepareUpdate(draft, { spec: previous }) {
    const { spec, status } = draft;
    keepAllocated(spec, previous);
    syncClusterIps(spec, previous);
    dropFieldsOfOldType(spec, previous);
    trimToSingleStack(spec, previous);
    const hasBalancer = spec.type === "LoadBalancer";
    // The load balancer's address is no longer valid, although the cloud may delete the balancer later.
    if (!hasBalancer && status.loadBalancer.ingress !== undefined)
      draft.status = { ...status, loadBalancer: {} };
  },

  validate(it, errors) {
    checkService(it, errors);
    checkServiceAddresses(it, errors);
  },

  validateUpdate(next, previous, errors) {
    checkAddressChanges(next, previous, errors);
    const isBalanced = next.spec.type === "LoadBalancer" && previous.spec.type === "LoadBalancer";
    const { loadBalancerClass } = next.spec;
    if (isBalanced && loadBalancerClass !== previous.spec.loadBalancerClass) {
      errors.invalid("spec.loadBalancerClass", loadBalancerClass, "may not change once set");
    }
    if (!needsHealthCheckPort(next.spec) || !needsHealthCheckPort(previous.spec)) return;
    if (next.spec.healthCheckNodePort !== previous.spec.healthCheckNodePort) {
      errors.forbidden("spec.healthCheckNodePort", "field is immutable");
    }
  },

  validateStatus(next, _previous, errors) {
    checkServiceStatus(next, errors);
  },

  warnings: serviceWarnings,

  fields: ({ spec }) => ({ "spec.clusterIP": spec.clusterIP ?? "", "spec.type": spec.type ?? "" }),

  cells: (it, now) => [
    it.metadata.name,
    it.spec.type ?? "",
    it.spec.clusterIPs?.[0] ?? "<none>",
    externalText(it),
    (it.spec.ports ?? []).map(portText).join(",") || "<none>",
    ageText(it, now),
    labelsText(it.spec.selector),
  ],
});

function externalText({ spec, status }: Service): string {
  const { type, externalIPs = [] } = spec;
  if (type === "ExternalName") return spec.externalName ?? "";
  if (type !== "LoadBalancer") return externalIPs.join(",") || "<none>";
  return [...ingressPoints(status.loadBalancer.ingress ?? []), ...externalIPs].join(",") || "<pending>";
}

function portText({ port, nodePort, protocol }: ServicePort): string {
  return nodePort === undefined ? `${port}/${protocol}` : `${port}:${nodePort}/${protocol}`;
}
