/** Offers the HTTP API of this process's nodes while they are up. */
import { Pod } from "../../api/generated/types/core-v1.ts";
import type { RoutineParts } from "../../runtime/manager/routine.ts";
import type { AgentNode } from "../node/agent-node.ts";
import { PODS_BY_NODE, type PodWorkers } from "../pod-workers.ts";
import type { ServedNode } from "./served-node.ts";

/** Makes a node reachable. The returned function ends that. */
export type ServeNode = (node: ServedNode) => () => void;

export interface NodeServingParts {
  readonly routine: Pick<RoutineParts, "cache">;
  readonly fleet: Pick<PodWorkers, "findHandler">;
  /** Default: nodes are unreachable. */
  readonly serve: ServeNode | undefined;
}

export class NodeServing {
  readonly #parts: NodeServingParts;
  readonly #served = new Map<string, () => void>();

  constructor(parts: NodeServingParts) {
    this.#parts = parts;
  }

  start({ name, setup }: AgentNode): void {
    const { routine, fleet, serve } = this.#parts;
    if (serve === undefined || this.#served.has(name)) return;
    const end = serve({
      name,
      configuration: configurationOf(setup.capacity["pods"]),
      pods: () => [...routine.cache(Pod).indexed(PODS_BY_NODE, name)],
      findRuntime: (pod) => fleet.findHandler(pod),
    });
    this.#served.set(name, end);
  }

  stop({ name }: AgentNode): void {
    this.#served.get(name)?.();
    this.#served.delete(name);
  }

  end(): void {
    for (const end of this.#served.values()) end();
    this.#served.clear();
  }
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
