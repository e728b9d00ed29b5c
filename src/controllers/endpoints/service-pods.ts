/** Finds the pods of a Service, with their addresses and ports. Pure. */
import type { Node, Pod, Service, ServicePort } from "../../api/generated/types/core-v1.ts";
import { cachedLabelSelector, labelsMatch } from "../../api/selectors/label-selector.ts";
import type { LabelSelector } from "../../api/selectors/label-selector.ts";
import { findIpAddress } from "../../api/values/ip-address.ts";
import { isTerminal } from "../../resources/pod/pod-state.ts";

export type Family = "IPv4" | "IPv6";

export interface PortTarget {
  readonly name: string;
  readonly port: number;
  readonly protocol: "SCTP" | "TCP" | "UDP";
  readonly appProtocol?: string;
}

/** Controllers create endpoints only for Services with a selector. */
export function choosesPods({ spec }: Service): boolean {
  return spec.type !== "ExternalName" && spec.selector !== undefined;
}

export function isHeadless({ spec }: Service): boolean {
  return spec.clusterIP === "None";
}

const NO_LABELS = {};

/** An empty selector matches all pods. */
export function selectorOf({ spec }: Service): LabelSelector {
  return cachedLabelSelector({ matchLabels: spec.selector ?? NO_LABELS });
}

export function isChosen(service: Service, pod: Pod): boolean {
  return labelsMatch(selectorOf(service), pod.metadata.labels);
}

/** False for a pod that has ended or has no address yet. */
export function hasAddress(pod: Pod): boolean {
  return !isTerminal(pod) && (pod.status.podIP ?? "") !== "";
}

export function addressOf({ status }: Pod, family: Family): string | undefined {
  const addresses = status.podIPs ?? (status.podIP === undefined ? [] : [{ ip: status.podIP }]);
  return addresses.find(({ ip }) => findIpAddress(ip)?.family === family)?.ip;
}

export function isBeingDeleted({ metadata }: Pod): boolean {
  return metadata.deletionTimestamp !== undefined;
}

/** Leaves out a port whose named container port the pod lacks. */
export function portsOf({ spec }: Service, pod: Pod): readonly PortTarget[] {
  return (spec.ports ?? []).flatMap((port) => {
    const number = targetPort(port, pod);
    if (number === undefined) return [];
    const { name = "", protocol = "TCP", appProtocol } = port;
    return [{ name, port: number, protocol, ...(appProtocol !== undefined && { appProtocol }) }];
  });
}

function targetPort(
  { targetPort: target, port, protocol = "TCP" }: ServicePort,
  pod: Pod,
): number | undefined {
  if (typeof target === "number") return target === 0 ? port : target;
  if (target === undefined || target === "") return port;
  const sidecars = (pod.spec.initContainers ?? []).filter(({ restartPolicy }) => restartPolicy === "Always");
  for (const container of [...pod.spec.containers, ...sidecars]) {
    const found = (container.ports ?? []).find(
      (each) => each.name === target && (each.protocol ?? "TCP") === protocol,
    );
    if (found !== undefined) return found.containerPort;
  }
  return undefined;
}

/** DNS name of a pod of a headless Service. */
export function hostnameOf(service: Service, { spec, metadata }: Pod): string | undefined {
  const isNamed = spec.hostname !== undefined && spec.subdomain === service.metadata.name;
  return isNamed && metadata.namespace === service.metadata.namespace ? spec.hostname : undefined;
}

export function zoneOf(node: Node | undefined): string | undefined {
  return node?.metadata.labels?.["topology.kubernetes.io/zone"];
}

/** True if the change of the pod can change an endpoint. */
export function isRelevant(before: Pod | undefined, after: Pod | undefined): boolean {
  if (before === undefined || after === undefined) return true;
  return fingerprint(before) !== fingerprint(after);
}

function fingerprint({ metadata, spec, status }: Pod): string {
  const ready = status.conditions?.find(({ type }) => type === "Ready")?.status;
  return JSON.stringify([
    metadata.labels,
    metadata.deletionTimestamp,
    spec.nodeName,
    spec.hostname,
    spec.subdomain,
    status.podIPs,
    status.podIP,
    isTerminal({ metadata, spec, status } as Pod),
    ready,
  ]);
}

/** Families of the Service. If it lists none, as upstream: the family of its address, or both for a headless one. */
export function familiesOf({ spec }: Service): readonly Family[] {
  const { clusterIP = "", ipFamilies = [] } = spec;
  const named = ipFamilies.filter((family): family is Family => family !== "");
  if (named.length > 0) return named;
  if (clusterIP === "None") return ["IPv4", "IPv6"];
  return [clusterIP.includes(":") ? "IPv6" : "IPv4"];
}
