/** Text of the `/etc/hosts` of a pod, as the kubelet writes it. Pure. */
import type { Pod } from "../../api/generated/types/core-v1.ts";

const LOCAL = [
  "127.0.0.1\tlocalhost",
  "::1\tlocalhost ip6-localhost ip6-loopback",
  "fe00::0\tip6-localnet",
  "fe00::0\tip6-mcastprefix",
  "fe00::1\tip6-allnodes",
  "fe00::2\tip6-allrouters",
];

export interface HostsFacts {
  readonly pod: Pod;
  readonly addresses: readonly string[];
  readonly hostname: string;
  /** The machine's own file, for pods on the host network. */
  readonly machine: string;
}

export function hostsText({ pod, addresses, hostname, machine }: HostsFacts): string {
  const { hostNetwork = false, subdomain, hostAliases = [] } = pod.spec;
  const names = subdomain === undefined ? hostname : `${longName(pod, hostname)}\t${hostname}`;
  const lines = hostNetwork
    ? ["# Kubernetes-managed hosts file (host network).", machine.trimEnd()]
    : ["# Kubernetes-managed hosts file.", ...LOCAL, ...addresses.map((address) => `${address}\t${names}`)];
  const aliases = hostAliases.map(({ ip, hostnames = [] }) => [ip, ...hostnames].join("\t"));
  const added = aliases.length === 0 ? [] : ["", "# Entries added by HostAliases.", ...aliases];
  return [...lines, ...added, ""].join("\n");
}

function longName({ metadata, spec }: Pod, hostname: string): string {
  return `${hostname}.${spec.subdomain ?? ""}.${metadata.namespace ?? ""}.svc.cluster.local`;
}
