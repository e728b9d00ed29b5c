/** The names of a pod's machine. */
import type { Pod } from "../../api/generated/types/core-v1.ts";

/** Upper bound of a label of a domain name. */
const HOSTNAME_MAX = 63;
/** Linux' upper bound of the name of a machine. */
const KERNEL_MAX = 64;

/** The host name of a pod without its domain. */
export function hostnameOf({ metadata, spec }: Pod): string {
  if (spec.hostnameOverride !== undefined) return spec.hostnameOverride.slice(0, KERNEL_MAX);
  return (spec.hostname ?? metadata.name).slice(0, HOSTNAME_MAX).replace(/(?<![-.])[-.]+$/, "");
}

/** The host name with the domain of the pod's subdomain; undefined for a pod without one. */
export function longNameOf(pod: Pod): string | undefined {
  const { subdomain, hostnameOverride } = pod.spec;
  if (subdomain === undefined || hostnameOverride !== undefined) return undefined;
  return `${hostnameOf(pod)}.${subdomain}.${pod.metadata.namespace ?? ""}.svc.cluster.local`;
}

/** The name that `hostname` prints inside the pod. */
export function kernelNameOf(pod: Pod): string {
  const long = pod.spec.setHostnameAsFQDN === true ? longNameOf(pod) : undefined;
  return long ?? hostnameOf(pod);
}

/** Why the pod cannot have its name, in the kubelet's words; undefined if it can. */
export function findNameProblem(pod: Pod): string | undefined {
  const name = kernelNameOf(pod);
  if (name.length <= KERNEL_MAX) return undefined;
  return (
    `failed to construct FQDN from pod hostname and cluster domain, FQDN ${name} is too long ` +
    `(${String(KERNEL_MAX)} characters is the max, ${String(name.length)} characters requested)`
  );
}
