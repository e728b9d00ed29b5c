/** How the server reaches the kubelets of nodes. The flags with these names are kube-apiserver's. */
import type { LocalNodes } from "../../streams/node-http.ts";
import type { ClientPair } from "../egress/egress.ts";

export const NODE_ADDRESS_TYPES = [
  "Hostname",
  "InternalDNS",
  "InternalIP",
  "ExternalDNS",
  "ExternalIP",
] as const;
export type NodeAddressType = (typeof NODE_ADDRESS_TYPES)[number];

export interface NodeOptions {
  /** Nodes that run in this process. */
  readonly local?: LocalNodes | undefined;
  /** Client certificate towards kubelets. Read at each request. */
  readonly clientPair?: (() => ClientPair | undefined) | undefined;
  /** PEM of the authorities of kubelets. Default: certificates of kubelets are not verified, as upstream. */
  readonly ca?: string | undefined;
  /** Default: kube-apiserver's order. */
  readonly addressTypes?: readonly NodeAddressType[] | undefined;
  /** Time to connect to a kubelet, and for one scrape; default 5 s. */
  readonly timeoutMs?: number | undefined;
  /** Whether loopback addresses of nodes are dialled: only when every node is on this machine. Default false. */
  readonly allowsLoopback?: boolean | undefined;
}

export const DEFAULT_KUBELET_TIMEOUT_MS = 5000;
