/**
 * Runs any number of nodes without machines in one loop. They register, renew leases and run pods like other
 * nodes.
 */
import { Node, Pod } from "../../api/generated/types/core-v1.ts";
import { RuntimeClass } from "../../api/generated/types/node-v1.ts";
import { findCidr, ipAddressText, type IpAddress } from "../../api/values/ip-address.ts";
import { inSlices } from "../../base/loop/in-slices.ts";
import { runInTurns } from "../../base/loop/run-in-turns.ts";
import type { Client } from "../../client/client.ts";
import { wholeNumber } from "../../resources/pod/resource-number.ts";
import { indexing } from "../../runtime/controller/controller.ts";
import type { Routine, RoutineParts } from "../../runtime/manager/routine.ts";
import { servedNode, type NodeEndpoint, type ServeNode } from "../http/node-serving.ts";
import type { ServedNode } from "../http/served-node.ts";
import { AgentNode, type NodeSetup } from "../node/agent-node.ts";
import { NodeStatusManager } from "../node/node-status-manager.ts";
import { PODS_BY_NODE, PodWorkers } from "../pod-workers.ts";
import { MirrorPods } from "../static/mirror-pods.ts";
import type { StaticPods } from "../static/static-pod.ts";
import { TimerQueue } from "../timer-queue.ts";
import { shapeAt, type NodeShape } from "./node-shape.ts";
import { SimulatedHandler } from "./simulated-handler.ts";

export interface SimulatedNodesOptions {
  /** Number of nodes. */
  readonly count: number;
  /** Prefix of the node names: `node-1`, `node-2` … Default: `node`. */
  readonly prefix?: string;
  /** IP families of the nodes' addresses, primary first. Default: IPv4 only. */
  readonly families?: readonly IpAddress["family"][];
  /** Shapes of the nodes, assigned in turn. Default: eight cores and 32 GiB, without labels. */
  readonly shapes?: readonly NodeShape[] | undefined;
  /**
   * Whether a controller publishes the server's certificate in each namespace. Default: true. If false, pods
   * do not wait for it.
   */
  readonly hasRootCa?: boolean;
  /** Makes the HTTP API of a node reachable. Default: nodes have none. */
  readonly serve?: ServeNode | undefined;
  /** Pods that nodes run on their own account. Default: none. */
  readonly statics?: StaticPods | undefined;
}

/** Blocks for the nodes' addresses: room for 65,000 nodes. */
const MACHINES = { IPv4: "172.18.0.0/16", IPv6: "fd00:172:18::/112" } as const;
/** Block for pod addresses of nodes without a pod CIDR: 256 for each node, room for 16,000 nodes. */
const FALLBACK = "100.64.0.0/10";
const VERSION = "v1.36.4+setpoint";

export function simulatedNodes(options: SimulatedNodesOptions): Routine {
  return {
    // Users know this name as the source of a node's Events.
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
  const { loop } = routine;
  const nodes = new Map<string, AgentNode>();
  const clients = new Map<string, Client>();
  const clientOf = (name: string): Client => clients.get(name) ?? routine.client;
  const findNode = (name: string): AgentNode | undefined => nodes.get(name);
  const timers = new TimerQueue(loop);
  const { statics } = options;
  const mirrors = new MirrorPods({ routine, clientOf, timers, findNode, signal, pods: statics?.pods ?? [] });
  const fleet = new PodWorkers({
    routine,
    clientOf,
    timers,
    signal,
    handlers: [(listener) => new SimulatedHandler({ loop, timers, listener })],
    findNode,
    hasRootCa: options.hasRootCa ?? true,
    ...(statics && { statics: { handler: statics.handler, has: (pod) => mirrors.has(pod) } }),
  });
  const endpoints = await serveAll(options, (name) => servedNode({ name, routine, fleet, findNode }));
  const addNode = (index: number): void => {
    const node = new AgentNode(setupOf(options, index, endpoints[index]));
    nodes.set(node.name, node);
    clients.set(node.name, routine.clientAs(`node:${node.name}`));
  };
  const indexes = Array.from({ length: options.count }, (_, index) => index);
  await runInTurns(inSlices(indexes, addNode), loop, "loop");
  const keeper = new NodeStatusManager({
    routine,
    clientOf,
    nodes,
    signal,
    versions: { kubelet: VERSION, runtimeHandler: "simulated" },
    onUp: (node) => {
      fleet.startNode(node);
      mirrors.startNode(node);
    },
    onDown: (node) => fleet.stopNode(node),
  });
  await fleet.recover();
  const leave = [fleet.follow(), mirrors.follow(), keeper.follow()];
  await fleet.run();
  for (const each of leave) each();
  for (const endpoint of endpoints) endpoint.close();
  timers.end();
  await Promise.all([fleet.end(), mirrors.end(), keeper.end()]);
}

function nameOf({ prefix = "node" }: SimulatedNodesOptions, index: number): string {
  return `${prefix}-${index + 1}`;
}

/** Endpoints in the order of the nodes; none if nodes have no API. */
async function serveAll(
  options: SimulatedNodesOptions,
  served: (name: string) => ServedNode,
): Promise<readonly NodeEndpoint[]> {
  const endpoints: NodeEndpoint[] = [];
  const { serve, count } = options;
  for (let index = 0; index < count && serve !== undefined; index++) {
    const endpoint = serve(served(nameOf(options, index)));
    endpoints.push(endpoint instanceof Promise ? await endpoint : endpoint);
  }
  return endpoints;
}

function setupOf(
  options: SimulatedNodesOptions,
  index: number,
  endpoint: NodeEndpoint | undefined,
): NodeSetup {
  const { families = ["IPv4"], shapes = [], statics } = options;
  const name = nameOf(options, index);
  const guests = statics?.pods.filter(({ node }) => node === name) ?? [];
  return {
    name,
    addresses: endpoint?.addresses ?? families.map((family) => addressAt(MACHINES[family], index + 2)),
    apiPort: endpoint?.port ?? 0,
    fallbackCidr: `${addressAt(FALLBACK, index * 256)}/24`,
    ...withRoom(shapeAt(shapes, index), guests.length),
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
