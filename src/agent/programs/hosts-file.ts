/** Text of the `/etc/hosts` of a pod, as the kubelet writes it. Pure. */
import type { Pod } from "../../api/generated/types/core-v1.ts";
import { hostnameOf, longNameOf } from "../pod/hostname.ts";

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
  /** The machine's own file, for pods on the host network. */
  readonly machine: string;
}

export function hostsText({ pod, addresses, machine }: HostsFacts): string {
  const { hostNetwork = false, hostAliases = [] } = pod.spec;
  const names = [longNameOf(pod), hostnameOf(pod)].filter((name) => name !== undefined).join("\t");
  const lines = hostNetwork
    ? ["# Kubernetes-managed hosts file (host network).", machine.trimEnd()]
    : ["# Kubernetes-managed hosts file.", ...LOCAL, ...addresses.map((address) => `${address}\t${names}`)];
  const aliases = hostAliases.map(({ ip, hostnames = [] }) => [ip, ...hostnames].join("\t"));
  const added = aliases.length === 0 ? [] : ["", "# Entries added by HostAliases.", ...aliases];
  return [...lines, ...added, ""].join("\n");
}
