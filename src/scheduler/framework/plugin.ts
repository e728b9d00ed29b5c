/**
 * The shape of a scheduler plugin: an object with the stages it takes part in.
 *
 * A cycle decides about one pod, in one step of the loop, so that nothing changes meanwhile. Filters say on which nodes it can run, scores
 * which of those suits it best; `reserve` notes what the pod will take, `preBind` does what must be done before the pod is put on its node.
 */

import type { Loop } from "../../base/loop/loop.ts";
import type { Client } from "../../client/client.ts";
import type { CacheReader } from "../../runtime/controller/controller.ts";
import type { RoutineParts } from "../../runtime/manager/routine.ts";
import type { ClusterSnapshot } from "../snapshot/cluster-snapshot.ts";
import type { NodeInfo } from "../snapshot/node-info.ts";
import type { PodInfo } from "../snapshot/pod-info.ts";
import type { Reactivations } from "./cluster-event.ts";

/** In the order in which they are asked. */
export const PLUGIN_NAMES = [
  "NodeUnschedulable",
  "NodeName",
  "TaintToleration",
  "NodeAffinity",
  "NodePorts",
  "NodeResourcesFit",
  "VolumeRestrictions",
  "NodeVolumeLimits",
  "VolumeBinding",
  "VolumeZone",
  "PodTopologySpread",
  "InterPodAffinity",
  "DynamicResources",
  "DefaultPreemption",
  "NodeResourcesBalancedAllocation",
  "ImageLocality",
  "NodeDeclaredFeatures",
] as const;
export type PluginName = (typeof PLUGIN_NAMES)[number];

/** Why a pod cannot be on a node, or on any. */
export interface Rejection {
  readonly plugin: PluginName;
  /** As clients see them. */
  readonly reasons: readonly string[];
  /** Whether it might fit if other pods were gone. */
  readonly isResolvable: boolean;
}

/** One decision, from its filters until the pod is bound; plugins may keep what they found out by it. */
export interface Cycle {
  readonly pod: PodInfo;
}

/** What a plugin could do for a pod that fits nowhere. */
export interface Relief {
  /** Added to the reason why. */
  readonly message: string;
  /** Rejects when it did not come off after all. */
  readonly done?: Promise<void>;
}

/** Undefined: the plugin has nothing against any node. */
export type FilterAnswer =
  | undefined
  | { readonly type: "reject"; readonly rejection: Rejection }
  | {
      readonly type: "check";
      check(node: NodeInfo): Rejection | undefined;
      /** No other node can pass; spares looking at them. */
      readonly only?: ReadonlySet<string>;
    };

export interface Scorer {
  score(node: NodeInfo): number;
  /**
   * What makes whole numbers of 0 to 100 of the scores: `none` when they are that already, `proportional` to the highest, `reversed` when the
   * lowest is best, or a function that changes the first `count` of them.
   */
  readonly normal: "none" | "proportional" | "reversed" | ((scores: Float64Array, count: number) => void);
}

export interface SchedulerPlugin {
  readonly name: PluginName;
  /**
   * `node`: filter and score of a node depend on the pod's shape and that node only, so that they are kept until the node changes.
   * `cluster`: they depend on more, and are made for each cycle.
   */
  readonly scope: "node" | "cluster";
  /** What can make a pod schedulable that this plugin rejected. */
  readonly reactivations: Reactivations;
  /** Whether the pod need not be tried yet: it waits, without a word, until an event of `reactivations` helps. */
  holds?(pod: PodInfo): boolean;
  filter?(cycle: Cycle): FilterAnswer;
  /** For a pod that fits nowhere, before others are made to go for it. */
  relieve?(cycle: Cycle): Relief;
  /** Undefined: every node suits the pod alike. `candidates` are those that passed all filters. */
  score?(cycle: Cycle, candidates: readonly NodeInfo[]): Scorer | undefined;
  /** Takes what the pod needs on the node; undone by `unreserve` if the pod does not come there after all. */
  reserve?(cycle: Cycle, node: NodeInfo): void;
  unreserve?(cycle: Cycle): void | Promise<void>;
  /** Whether there is something to wait for before the pod may be bound. */
  hasPreBind?(cycle: Cycle): boolean;
  /** Rejects when the pod cannot be bound now. */
  preBind?(cycle: Cycle, node: NodeInfo, signal: AbortSignal): Promise<void>;
}

/** What plugins stand on. */
export interface PluginContext {
  readonly snapshot: ClusterSnapshot;
  readonly cache: CacheReader;
  readonly client: Client;
  readonly loop: Loop;
  readonly event: RoutineParts["event"];
  /** Counts a write among those of the scheduler, which decides about no more pods while there are too many. */
  write<T>(send: () => Promise<T>): Promise<T>;
  /** Told of each change of a claim or volume, and when the scheduler ends; until the function that comes back is called. */
  onVolumeChange(listener: () => void): () => void;
}

export type PluginFactory = (context: PluginContext) => SchedulerPlugin;

export function reject(plugin: PluginName, reason: string, isResolvable: boolean): Rejection {
  return { plugin, reasons: [reason], isResolvable };
}

export function rejectAll(rejection: Rejection): FilterAnswer {
  return { type: "reject", rejection };
}
