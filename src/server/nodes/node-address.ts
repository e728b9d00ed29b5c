/** Which address of a node the server dials, and on which port. */
import type { Node } from "../../api/generated/types/core-v1.ts";
import { NODE_ADDRESS_TYPES } from "./node-options.ts";
import type { NodeAddressType } from "./node-options.ts";

const HOSTNAME_LABEL = "kubernetes.io/hostname";

/** Addresses in the order of preference. Without a Hostname address, the node's label has it, as upstream. */
export function preferredAddresses(
  { metadata, status }: Node,
  types: readonly NodeAddressType[] = NODE_ADDRESS_TYPES,
): readonly string[] {
  const { addresses = [] } = status;
  const found = types.flatMap((type) => {
    const own = addresses.filter((each) => each.type === type && each.address !== "");
    const label = type === "Hostname" ? metadata.labels?.[HOSTNAME_LABEL] : undefined;
    return own.length === 0 && label !== undefined ? [label] : own.map(({ address }) => address);
  });
  return [...new Set(found)];
}

/** Undefined for a node whose kubelet serves no port, such as a simulated one. */
export function findKubeletPort({ status }: Node): number | undefined {
  const port = status.daemonEndpoints?.kubeletEndpoint?.Port ?? 0;
  return port > 0 ? port : undefined;
}
