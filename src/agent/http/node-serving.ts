/** The HTTP API of the nodes of this process, as the API server reaches it. */
import { Pod } from "../../api/generated/types/core-v1.ts";
import type { RoutineParts } from "../../runtime/manager/routine.ts";
import type { AgentNode } from "../node/agent-node.ts";
import { PODS_BY_NODE, type PodWorkers } from "../pod-workers.ts";
import type { Programs } from "../programs/programs.ts";
import type { ServedNode } from "./served-node.ts";

/** How a node's API is reached. */
export interface NodeEndpoint {
  /** Port at the addresses; 0 for an API that only this process reaches. */
  readonly port: number;
  /** Addresses of the node, primary first; undefined for those that the agent invents. */
  readonly addresses: readonly string[] | undefined;
  close(): void;
}

/** Makes a node's API reachable, before the node registers. */
export type ServeNode = (node: ServedNode) => NodeEndpoint | Promise<NodeEndpoint>;

export interface ServedNodeParts {
  readonly name: string;
  readonly routine: Pick<RoutineParts, "cache">;
  readonly fleet: Pick<PodWorkers, "findHandler" | "probeTotals">;
  /** Keeps the logs of programs longer than their handler does; undefined if no handler runs any. */
  readonly programs: Pick<Programs, "readLog"> | undefined;
  /** Undefined before the node registers. */
  readonly findNode: (name: string) => AgentNode | undefined;
}

export function servedNode({ name, routine, fleet, programs, findNode }: ServedNodeParts): ServedNode {
  return {
    name,
    isUp: () => findNode(name)?.state === "up",
    configuration: () => configurationOf(findNode(name)?.setup.capacity["pods"]),
    pods: () => [...routine.cache(Pod).indexed(PODS_BY_NODE, name)],
    findRuntime: (pod) => fleet.findHandler(pod),
    probeTotals: (pod) => fleet.probeTotals(pod),
    readLog: async (place, query) =>
      (await fleet.findHandler(place.pod)?.logs(place, query)) ?? programs?.readLog(place, query),
  };
}

/** The agent's settings under the kubelet's names. */
function configurationOf(pods = "0"): Readonly<Record<string, unknown>> {
  return {
    apiVersion: "kubelet.config.k8s.io/v1beta1",
    kind: "KubeletConfiguration",
    maxPods: Number(pods),
    nodeLeaseDurationSeconds: 40,
    nodeStatusReportFrequency: "5m0s",
    nodeStatusUpdateFrequency: "10s",
  };
}
