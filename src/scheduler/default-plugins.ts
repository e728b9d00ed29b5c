/** All plugins and their default score weights. */

import {
  type PluginContext,
  PLUGIN_NAMES,
  type PluginFactory,
  type PluginName,
  type SchedulerPlugin,
} from "./framework/scheduler-plugin.ts";
import { balancedAllocation } from "./plugins/balanced-allocation.ts";
import { dynamicResources } from "./plugins/dynamic-resources/dynamic-resources.ts";
import { imageLocality } from "./plugins/image-locality.ts";
import { interPodAffinity } from "./plugins/inter-pod-affinity.ts";
import { nodeAffinity } from "./plugins/node-affinity.ts";
import { nodeDeclaredFeatures } from "./plugins/node-declared-features.ts";
import { nodeName } from "./plugins/node-name.ts";
import { nodePorts } from "./plugins/node-ports.ts";
import { nodeResourcesFit } from "./plugins/node-resources-fit.ts";
import { nodeUnschedulable } from "./plugins/node-unschedulable.ts";
import { nodeVolumeLimits } from "./plugins/node-volume-limits.ts";
import { podTopologySpread } from "./plugins/pod-topology-spread.ts";
import { taintToleration } from "./plugins/taint-toleration.ts";
import { volumeBinding } from "./plugins/volume-binding.ts";
import { volumeRestrictions } from "./plugins/volume-restrictions.ts";
import { volumeZone } from "./plugins/volume-zone.ts";

/** Preemption has no factory: it runs after a cycle without a fitting node. */
const FACTORIES: Readonly<Record<Exclude<PluginName, "DefaultPreemption">, PluginFactory>> = {
  NodeUnschedulable: nodeUnschedulable,
  NodeName: nodeName,
  TaintToleration: taintToleration,
  NodeAffinity: nodeAffinity,
  NodePorts: nodePorts,
  NodeResourcesFit: nodeResourcesFit,
  VolumeRestrictions: volumeRestrictions,
  NodeVolumeLimits: nodeVolumeLimits,
  VolumeBinding: volumeBinding,
  VolumeZone: volumeZone,
  PodTopologySpread: podTopologySpread,
  InterPodAffinity: interPodAffinity,
  DynamicResources: dynamicResources,
  NodeResourcesBalancedAllocation: balancedAllocation,
  ImageLocality: imageLocality,
  NodeDeclaredFeatures: nodeDeclaredFeatures,
};

export const DEFAULT_WEIGHTS: Readonly<Partial<Record<PluginName, number>>> = {
  TaintToleration: 3,
  NodeAffinity: 2,
  PodTopologySpread: 2,
  InterPodAffinity: 2,
  DynamicResources: 2,
  NodeResourcesFit: 1,
  NodeResourcesBalancedAllocation: 1,
  ImageLocality: 1,
};

const WITHOUT_STAGES: SchedulerPlugin = { name: "DefaultPreemption", scope: "cluster", queueingHints: {} };

/** Plugins in their fixed order, independent of the order of `names`. */
export function makePlugins(
  names: ReadonlySet<PluginName>,
  context: PluginContext,
): readonly SchedulerPlugin[] {
  return PLUGIN_NAMES.filter((name) => names.has(name)).map((name) =>
    name === "DefaultPreemption" ? WITHOUT_STAGES : FACTORIES[name](context),
  );
}
