import type { PortRange } from "./port-allocation.ts";

/** Addresses and ports that the server gives to Services. */
export interface NetworkOptions {
  /** Address ranges of Services, one per IP family, the default family first. */
  readonly serviceCidrs: readonly string[];
  readonly nodePorts: PortRange;
}

/** kubeadm's range of addresses and kube-apiserver's range of ports. */
export const DEFAULT_NETWORK: NetworkOptions = {
  serviceCidrs: ["10.96.0.0/12"],
  nodePorts: { first: 30_000, last: 32_767 },
};
