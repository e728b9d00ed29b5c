/**
 * Interface of a scheduler plugin: an object with the stages it implements.
 *
 * A cycle decides about one pod in one synchronous step. Filters exclude nodes, scores rank them; `reserve` records what the pod will use,
 * `preBind` does the work needed before the binding.
 */

import type { Loop } from "../../base/loop/loop.ts";
import type { Client } from "../../client/client.ts";
import type { CacheReader } from "../../runtime/controller/controller.ts";
import type { RoutineParts } from "../../runtime/manager/routine.ts";
import type { ClusterSnapshot } from "../snapshot/cluster-snapshot.ts";
import type { NodeInfo } from "../snapshot/node-info.ts";
import type { PodInfo } from "../snapshot/pod-info.ts";
import type { QueueingHintFunctions } from "./cluster-event.ts";

/** Order in which plugins run. */
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

/** Reason why a pod does not fit on a node, or on any node. */
export interface Rejection {
  readonly plugin: PluginName;
  /** Texts that clients see. */
  readonly reasons: readonly string[];
  /** Deleting other pods could make the pod fit. */
  readonly isResolvable: boolean;
}

/** One decision, from the filters to the binding; the key for plugins' state of it. */
export interface SchedulingCycle {
  readonly pod: PodInfo;
}

/** Action of a plugin for a pod that fits on no node. */
export interface PostFilterResult {
  /** Text to add to the reason. */
  readonly message: string;
  /** Rejects if the action failed. */
  readonly done?: Promise<void>;
}

/** Undefined: the plugin accepts every node. */
export type FilterAnswer =
  | undefined
  | { readonly type: "reject"; readonly rejection: Rejection }
  | {
      readonly type: "check";
      check(node: NodeInfo): Rejection | undefined;
      /** If defined, only these nodes can pass; the others are not checked. */
      readonly only?: ReadonlySet<string>;
    };

export interface Scorer {
  score(node: NodeInfo): number;
  /**
   * Normalization to whole numbers from 0 to 100. `none`: already done; `proportional`: to the highest; `reversed`: the lowest is best; a
   * function changes the first `count` scores.
   */
  readonly normal: "none" | "proportional" | "reversed" | ((scores: Float64Array, count: number) => void);
}

export interface SchedulerPlugin {
  readonly name: PluginName;
  /**
   * `node`: results depend only on the pod's shape and the node, and are cached until the node changes. `cluster`: results depend on more
   * and are computed in each cycle.
   */
  readonly scope: "node" | "cluster";
  /** Events that can help a pod that this plugin rejected. */
  readonly queueingHints: QueueingHintFunctions;
  /** True to hold the pod back before an attempt. It waits, without a report, for an event of `queueingHints`. */
  holds?(pod: PodInfo): boolean;
  filter?(cycle: SchedulingCycle): FilterAnswer;
  /** Runs for a pod that fits on no node, before preemption. */
  postFilter?(cycle: SchedulingCycle): PostFilterResult;
  /** Undefined: all nodes are equally good. `candidates` passed all filters. */
  score?(cycle: SchedulingCycle, candidates: readonly NodeInfo[]): Scorer | undefined;
  /** Reserves what the pod needs on the node. `unreserve` undoes it if the binding fails. */
  reserve?(cycle: SchedulingCycle, node: NodeInfo): void;
  unreserve?(cycle: SchedulingCycle): void | Promise<void>;
  /** True if `preBind` must run before the binding. */
  hasPreBind?(cycle: SchedulingCycle): boolean;
  /** Rejects if the pod cannot be bound now. */
  preBind?(cycle: SchedulingCycle, node: NodeInfo, signal: AbortSignal): Promise<void>;
}

/** Services that plugins may use. */
export interface PluginContext {
  readonly snapshot: ClusterSnapshot;
  readonly cache: CacheReader;
  readonly client: Client;
  readonly loop: Loop;
  readonly event: RoutineParts["event"];
  /** Counts the write among the scheduler's writes in flight, whose bound pauses decisions. */
  write<T>(send: () => Promise<T>): Promise<T>;
  /** Calls the listener after each change of a claim or volume, and when the scheduler stops. Returns a function that unsubscribes. */
  onVolumeChange(listener: () => void): () => void;
}

export type PluginFactory = (context: PluginContext) => SchedulerPlugin;

export function reject(plugin: PluginName, reason: string, isResolvable: boolean): Rejection {
  return { plugin, reasons: [reason], isResolvable };
}

export function rejectAll(rejection: Rejection): FilterAnswer {
  return { type: "reject", rejection };
}
