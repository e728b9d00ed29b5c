/** One node of this process: its setup, its state, and the resources of its pods. */
import type { Node, NodeCondition, NodeSystemInfo, Taint } from "../../api/generated/types/core-v1.ts";
import { AllocatedResources } from "./allocated-resources.ts";

export interface NodeSetup {
  readonly name: string;
  /** One address of each family. The first is the primary address. */
  readonly addresses: readonly string[];
  /** Port of the node's HTTP API at its addresses; 0 if no other machine can reach it. */
  readonly apiPort: number;
  /** Block for pod addresses until the node has its own pod CIDR. */
  readonly fallbackCidr: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  readonly capacity: Readonly<Record<string, string>>;
  /** Names of the runtime handlers, the default first. */
  readonly runtimeHandlers: readonly string[];
  /** Facts about the machine, by the node's name. */
  readonly taints?: readonly Taint[];
  /** Block for pod addresses that a new Node object asks for. Default: a controller assigns one. */
  readonly podCidr?: string | undefined;
  /** Conditions beside the kubelet's. */
  readonly conditions?: readonly OwnCondition[];
  readonly systemInfo: (name: string) => SystemInfo;
}

export type SystemInfo = Omit<NodeSystemInfo, "kubeletVersion" | "kubeProxyVersion">;

/** A condition that the agent keeps true, without its times. */
export type OwnCondition = Required<Pick<NodeCondition, "type" | "status" | "reason" | "message">>;

/**
 * `absent`: no Node object yet. `up`: running. `down`: simulates a machine that is off. `gone`: the Node
 * object was deleted; only a restart of the agent creates it again.
 */
export type NodeState = "absent" | "up" | "down" | "gone";

export class AgentNode {
  readonly setup: NodeSetup;
  readonly allocated = new AllocatedResources();
  state: NodeState = "absent";

  constructor(setup: NodeSetup) {
    this.setup = setup;
  }

  get name(): string {
    return this.setup.name;
  }

  /** Blocks for the addresses of pods. */
  podCidrs(node: Node | undefined): readonly string[] {
    const { podCIDR = this.setup.fallbackCidr, podCIDRs = [podCIDR] } = node?.spec ?? {};
    return podCIDRs;
  }
}
