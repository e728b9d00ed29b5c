/** Any number of nodes without machines. They register, renew leases and run pods like other nodes. */
import { findCidr, ipAddressText, type IpAddress } from "../../api/values/ip-address.ts";
import { NO_POD_NETWORK } from "../../resources/node/pod-network.ts";
import { wholeNumber } from "../../resources/pod/resource-number.ts";
import type { NodeSetup } from "../node/agent-node.ts";
import type { StaticPods } from "../static/static-pod.ts";
import { shapeAt, type NodeShape } from "./node-shape.ts";
import { simulatedSystem } from "./simulated-system.ts";

export interface SimulatedNodesOptions {
  /** Number of nodes. */
  readonly count: number;
  /** Prefix of the node names: `node-1`, `node-2` … Default: `node`. */
  readonly prefix?: string;
  /** IP families of the nodes' addresses, primary first. Default: IPv4 only. */
  readonly families?: readonly IpAddress["family"][];
  /** Shapes of the nodes, assigned in turn. Default: eight cores and 32 GiB, without labels. */
  readonly shapes?: readonly NodeShape[] | undefined;
  /** Pods that nodes run on their own account. Default: none. */
  readonly statics?: StaticPods | undefined;
}

/** Blocks for the nodes' addresses: room for 65,000 nodes. */
const MACHINES = { IPv4: "172.18.0.0/16", IPv6: "fd00:172:18::/112" } as const;
/** Block for pod addresses of nodes without a pod CIDR: 256 for each node, room for 16,000 nodes. */
const FALLBACK = "100.64.0.0/10";

export function* simulatedSetups(options: SimulatedNodesOptions): Generator<NodeSetup> {
  for (let index = 0; index < options.count; index++) yield setupOf(options, index);
}

function setupOf(options: SimulatedNodesOptions, index: number): NodeSetup {
  const { prefix = "node", families = ["IPv4"], shapes = [], statics } = options;
  const name = `${prefix}-${index + 1}`;
  const guests = statics?.pods.filter(({ node }) => node === name) ?? [];
  return {
    name,
    addresses: families.map((family) => addressAt(MACHINES[family], index + 2)),
    fallbackCidr: `${addressAt(FALLBACK, index * 256)}/24`,
    ...withRoom(shapeAt(shapes, index), guests.length),
    annotations: NO_POD_NETWORK,
    runtimeHandlers: ["simulated"],
    apiPort: 0,
    systemInfo: simulatedSystem,
  };
}

/** Static pods take no room from other pods. */
function withRoom({ capacity, labels }: Required<NodeShape>, guests: number): Required<NodeShape> {
  if (guests === 0) return { capacity, labels };
  return { capacity: { ...capacity, pods: String(wholeNumber(capacity["pods"] ?? "0") + guests) }, labels };
}

function addressAt(block: string, offset: number): string {
  const first = findCidr(block)?.address;
  if (first === undefined) throw new Error(`expected a CIDR block, found ${block}`);
  return ipAddressText({ ...first, value: first.value + BigInt(offset) });
}
