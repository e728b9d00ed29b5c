/** Runs the nodes of this process in one loop: registers them, renews their leases and runs their pods over runtime handlers. */
import { join } from "node:path";
import { Node, PersistentVolume, Pod } from "../api/generated/types/core-v1.ts";
import { RuntimeClass } from "../api/generated/types/node-v1.ts";
import { inSlices } from "../base/loop/in-slices.ts";
import { runInTurns } from "../base/loop/run-in-turns.ts";
import type { Client } from "../client/client.ts";
import { indexing } from "../runtime/controller/controller.ts";
import type { Routine, RoutineParts } from "../runtime/manager/routine.ts";
import { servedNode, type NodeEndpoint, type ServeNode } from "./http/node-serving.ts";
import type { ServedNode } from "./http/served-node.ts";
import { AgentNode, type NodeSetup } from "./node/agent-node.ts";
import { NodeStatusManager } from "./node/node-status-manager.ts";
import { PODS_BY_NODE, PodWorkers } from "./pod-workers.ts";
import { Programs } from "./programs/programs.ts";
import type { RuntimeHandlerFactory } from "./runtime-handler.ts";
import { MirrorPods } from "./static/mirror-pods.ts";
import type { StaticPods } from "./static/static-pod.ts";
import { TimerQueue } from "./timer-queue.ts";
import { VOLUME_FOLDER } from "./volumes/host-path.ts";
import { followProvisionedFolders } from "./volumes/provisioned-folders.ts";
import { VolumeSources } from "./volumes/volume-sources.ts";

export interface NodeAgentOptions {
  /** Nodes of this process, made in slices. An endpoint of a node's API may replace its addresses and port. */
  readonly setups: () => Iterable<NodeSetup>;
  /** The first handler runs pods without a RuntimeClass. */
  readonly handlers: (parts: HandlerParts) => readonly [RuntimeHandlerFactory, ...RuntimeHandlerFactory[]];
  /** Folder for volumes and logs of pods; required for handlers that run programs. */
  readonly dataDir?: string | undefined;
  /**
   * Whether a controller publishes the server's certificate in each namespace. Default: true. If false, pods
   * do not wait for it.
   */
  readonly hasRootCa?: boolean | undefined;
  /** Makes the HTTP API of a node reachable. Default: nodes have none. */
  readonly serve?: ServeNode | undefined;
  /** Pods that nodes run on their own account. Default: none. */
  readonly statics?: StaticPods | undefined;
}

export interface HandlerParts extends Pick<RoutineParts, "loop" | "log"> {
  readonly timers: TimerQueue;
}

export function nodeAgent(options: NodeAgentOptions): Routine {
  return {
    // Users know this name as the source of a node's Events.
    name: "kubelet",
    reads: [Node, Pod, RuntimeClass, ...(options.dataDir === undefined ? [] : [PersistentVolume])],
    indexes: [indexing(Pod, PODS_BY_NODE, podNode)],
    run: (parts, signal) => runNodes(options, parts, signal),
  };
}

function podNode({ spec }: Pod): readonly string[] {
  return spec.nodeName === undefined ? [] : [spec.nodeName];
}

async function runNodes(
  options: NodeAgentOptions,
  routine: RoutineParts,
  signal: AbortSignal,
): Promise<void> {
  const { loop, log } = routine;
  const nodes = new Map<string, AgentNode>();
  const clients = new Map<string, Client>();
  const clientOf = (name: string): Client => clients.get(name) ?? routine.client;
  const timers = new TimerQueue(loop);
  const findNode = (name: string): AgentNode | undefined => nodes.get(name);
  const { statics } = options;
  const programs = programsOf(options, routine, clientOf);
  const mirrors = new MirrorPods({ routine, clientOf, timers, findNode, signal, pods: statics?.pods ?? [] });
  const fleet = new PodWorkers({
    ...{ routine, clientOf, timers, signal, findNode },
    handlers: options.handlers({ loop, log, timers }),
    programs,
    hasRootCa: options.hasRootCa ?? true,
    ...(statics && { statics: { handler: statics.handler, has: (pod) => mirrors.has(pod) } }),
  });
  const setups: NodeSetup[] = [];
  await runInTurns(
    inSlices(options.setups(), (setup) => setups.push(setup)),
    loop,
    "loop",
  );
  const endpoints = await serveAll(options.serve, setups, (name) =>
    servedNode({ name, routine, fleet, programs, findNode }),
  );
  const addNode = (setup: NodeSetup, endpoint: NodeEndpoint | undefined): void => {
    nodes.set(setup.name, new AgentNode(reachable(setup, endpoint)));
    clients.set(setup.name, routine.clientAs(`node:${setup.name}`));
  };
  await runInTurns(
    inSlices(setups.entries(), ([index, setup]) => addNode(setup, endpoints[index])),
    loop,
    "loop",
  );
  const keeper = new NodeStatusManager({
    ...{ routine, clientOf, nodes, signal },
    onUp: (node) => {
      fleet.startNode(node);
      mirrors.startNode(node);
    },
    onDown: (node) => fleet.stopNode(node),
  });
  await fleet.recover();
  const { dataDir } = options;
  const folders =
    dataDir === undefined ? [] : [followProvisionedFolders(routine, join(dataDir, VOLUME_FOLDER))];
  const leave = [fleet.follow(), mirrors.follow(), keeper.follow(), ...folders];
  await fleet.run();
  for (const each of leave) each();
  for (const endpoint of endpoints) endpoint.close();
  timers.end();
  await Promise.all([fleet.end(), mirrors.end(), keeper.end()]);
}

/** Endpoints in the order of the nodes; none if nodes have no API. */
async function serveAll(
  serve: ServeNode | undefined,
  setups: readonly NodeSetup[],
  served: (name: string) => ServedNode,
): Promise<readonly NodeEndpoint[]> {
  const endpoints: NodeEndpoint[] = [];
  for (const { name } of serve === undefined ? [] : setups) {
    const endpoint = serve?.(served(name));
    const settled = endpoint instanceof Promise ? await endpoint : endpoint;
    if (settled !== undefined) endpoints.push(settled);
  }
  return endpoints;
}

function reachable(setup: NodeSetup, endpoint: NodeEndpoint | undefined): NodeSetup {
  if (endpoint === undefined) return setup;
  return { ...setup, apiPort: endpoint.port, addresses: endpoint.addresses ?? setup.addresses };
}

function programsOf(
  { dataDir }: NodeAgentOptions,
  { loop, log, cache }: RoutineParts,
  clientOf: (node: string) => Client,
): Programs | undefined {
  if (dataDir === undefined) return undefined;
  const sources = new Map<string, VolumeSources>();
  return new Programs({
    ...{ loop, log, dataDir, clientOf },
    sourcesOf: (node) => {
      const known = sources.get(node) ?? new VolumeSources(clientOf(node), () => loop.now());
      sources.set(node, known);
      return known;
    },
    allocatableOf: (name) => cache(Node).find({ name })?.status.allocatable ?? {},
  });
}
