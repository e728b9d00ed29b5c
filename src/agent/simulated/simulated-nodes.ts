/** Nodes without machines, as many as wanted, in one loop: they register, keep alive and run pods as other nodes do. */
import { Node, Pod } from "../../api/generated/types/core-v1.ts";
import { RuntimeClass } from "../../api/generated/types/node-v1.ts";
import { findCidr, ipAddressText, type IpAddress } from "../../api/values/ip-address.ts";
import { untilAborted } from "../../base/loop/until-aborted.ts";
import type { Client } from "../../client/client.ts";
import { indexing } from "../../runtime/controller/controller.ts";
import type { Routine, RoutineParts } from "../../runtime/manager/routine.ts";
import { Agenda } from "../agenda.ts";
import { AgentNode, type NodeSetup } from "../node/agent-node.ts";
import { NodeKeeper } from "../node/node-keeper.ts";
import { PODS_BY_NODE, PodFleet } from "../pod-fleet.ts";
import { SimulatedRuntime } from "./simulated-runtime.ts";

export interface SimulatedNodesOptions {
  readonly count: number;
  /** Nodes are named after it: `node-1`, `node-2` … */
  readonly prefix?: string;
  /** Of which families machines have addresses, the more important one first; IPv4 alone unless given. */
  readonly families?: readonly IpAddress["family"][];
  /** What each node has; amounts that are not given are the default's. */
  readonly capacity?: Readonly<Record<string, string>>;
  /** Of every node, besides the usual ones. */
  readonly labels?: Readonly<Record<string, string>>;
  /** Nodes are dealt out to them in turn, and carry the labels of zone and region. */
  readonly zones?: readonly string[];
  readonly region?: string;
  /** Whether somebody puts the certificate of the server into each namespace, as usual; else no pod waits for it. */
  readonly hasRootCa?: boolean;
}

const CAPACITY = { cpu: "8", memory: "32Gi", "ephemeral-storage": "100Gi", pods: "110" };
const REGION = "local";
/** Where simulated machines have their addresses; room for 65,000. */
const MACHINES = { IPv4: "172.18.0.0/16", IPv6: "fd00:172:18::/112" } as const;
/** Where pods get addresses on nodes without a block of their own: 256 each, room for 16,000 nodes. */
const FALLBACK = "100.64.0.0/10";
const VERSION = "v1.36.4+setpoint";

export function simulatedNodes(options: SimulatedNodesOptions): Routine {
  return {
    // Under this name people know who speaks for a node.
    name: "kubelet",
    reads: [Node, Pod, RuntimeClass],
    indexes: [indexing(Pod, PODS_BY_NODE, podNode)],
    run: (parts, signal) => runNodes(options, parts, signal),
  };
}

function podNode({ spec }: Pod): readonly string[] {
  return spec.nodeName === undefined ? [] : [spec.nodeName];
}

async function runNodes(
  options: SimulatedNodesOptions,
  routine: RoutineParts,
  signal: AbortSignal,
): Promise<void> {
  const nodes = nodesOf(options);
  const { loop } = routine;
  const clients = new Map(Array.from(nodes.keys(), (name) => [name, routine.clientAs(`node:${name}`)]));
  const clientOf = (name: string): Client => clients.get(name) ?? routine.client;
  const agenda = new Agenda(loop);
  const fleet = new PodFleet({
    routine,
    clientOf,
    agenda,
    signal,
    runtime: (report) => new SimulatedRuntime({ loop, agenda, report }),
    findNode: (name) => nodes.get(name),
    hasRootCa: options.hasRootCa ?? true,
  });
  const keeper = new NodeKeeper({
    routine,
    clientOf,
    nodes,
    signal,
    versions: { kubelet: VERSION, runtimeHandler: "simulated" },
    onUp: (node) => fleet.takeUp(node),
    onDown: (node) => fleet.letDown(node),
  });
  const leave = [fleet.follow(), keeper.follow()];
  await untilAborted(signal);
  for (const each of leave) each();
  agenda.end();
  await Promise.all([fleet.end(), keeper.end()]);
}

function nodesOf(options: SimulatedNodesOptions): ReadonlyMap<string, AgentNode> {
  const nodes = Array.from({ length: options.count }, (_, index) => new AgentNode(setupOf(options, index)));
  return new Map(nodes.map((node) => [node.name, node]));
}

function setupOf(options: SimulatedNodesOptions, index: number): NodeSetup {
  const { prefix = "node", families = ["IPv4"], capacity = {}, labels = {} } = options;
  const { zones = [], region = REGION } = options;
  const zone = zones[index % Math.max(1, zones.length)];
  return {
    name: `${prefix}-${index + 1}`,
    addresses: families.map((family) => addressAt(MACHINES[family], index + 2)),
    fallbackCidr: `${addressAt(FALLBACK, index * 256)}/24`,
    capacity: { ...CAPACITY, ...capacity },
    labels: {
      ...(zone !== undefined && {
        "topology.kubernetes.io/region": region,
        "topology.kubernetes.io/zone": zone,
      }),
      ...labels,
    },
  };
}

function addressAt(block: string, offset: number): string {
  const first = findCidr(block)?.address;
  if (first === undefined) throw new Error(`expected a block of addresses, found ${block}`);
  return ipAddressText({ ...first, value: first.value + BigInt(offset) });
}
