/** The scheduler: gives every pod that asks one of its profiles a node. */

import { ReplicaSet, StatefulSet } from "../api/generated/types/apps-v1.ts";
import {
  Namespace,
  Node,
  PersistentVolume,
  PersistentVolumeClaim,
  Pod,
  ReplicationController,
  Service,
} from "../api/generated/types/core-v1.ts";
import { PodDisruptionBudget } from "../api/generated/types/policy-v1.ts";
import { DeviceClass, ResourceClaim, ResourceSlice } from "../api/generated/types/resource-v1.ts";
import { CSIDriver, CSINode, CSIStorageCapacity, StorageClass } from "../api/generated/types/storage-v1.ts";
import { indexing } from "../runtime/controller/controller.ts";
import type { Routine } from "../runtime/manager/routine.ts";
import { DEFAULT_WEIGHTS, makePlugins } from "./default-plugins.ts";
import { PLUGIN_NAMES, type PluginName } from "./framework/plugin.ts";
import { Profile } from "./framework/profile.ts";
import { SERVICES_BY_NAMESPACE } from "./plugins/default-selector.ts";
import { type ProfileMaker, SchedulerRun } from "./scheduler-run.ts";

export interface SchedulerProfile {
  /** What pods name in `spec.schedulerName`. */
  readonly schedulerName: string;
  /** The plugins that take part; all unless given. */
  readonly plugins?: readonly PluginName[];
  /** What their scores weigh, where it differs from the default. */
  readonly weights?: Readonly<Partial<Record<PluginName, number>>>;
  /** How many nodes that fit, of a hundred, are enough to choose among; follows from the number of nodes unless given. */
  readonly percentageOfNodesToScore?: number;
}

export interface SchedulerOptions {
  /** One that is known as `default-scheduler` and has all plugins, unless given. */
  readonly profiles?: readonly SchedulerProfile[];
}

const DEFAULT_PROFILE: SchedulerProfile = { schedulerName: "default-scheduler" };

export function schedulerRoutine({ profiles = [DEFAULT_PROFILE] }: SchedulerOptions = {}): Routine {
  return {
    name: "default-scheduler",
    events: "series",
    reads: [
      Pod,
      Node,
      Namespace,
      Service,
      ReplicationController,
      ReplicaSet,
      StatefulSet,
      PersistentVolume,
      PersistentVolumeClaim,
      StorageClass,
      CSINode,
      CSIDriver,
      CSIStorageCapacity,
      PodDisruptionBudget,
      ResourceClaim,
      ResourceSlice,
      DeviceClass,
    ],
    indexes: [indexing(Service, SERVICES_BY_NAMESPACE, ({ metadata }) => [metadata.namespace ?? ""])],
    run: (parts, signal) => new SchedulerRun(parts, signal, profileMaker(profiles)).run(),
  };
}

function profileMaker(profiles: readonly SchedulerProfile[]): ProfileMaker {
  return (context, nominations) =>
    profiles.map((profile) => {
      const { schedulerName, plugins = PLUGIN_NAMES, weights = {}, percentageOfNodesToScore = 0 } = profile;
      return new Profile({
        schedulerName,
        plugins: makePlugins(new Set(plugins), context),
        weights: { ...DEFAULT_WEIGHTS, ...weights },
        percentageOfNodesToScore,
        snapshot: context.snapshot,
        nominations,
        ties: context.loop.random("ties"),
      });
    });
}
