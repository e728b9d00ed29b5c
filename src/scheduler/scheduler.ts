/** The scheduler: assigns a node to every pod that names one of its profiles. */

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
import { candidateValues } from "../resources/storage/volume-candidates.ts";
import { indexing } from "../runtime/controller/controller.ts";
import type { Routine } from "../runtime/manager/routine.ts";
import { DEFAULT_WEIGHTS, makePlugins } from "./default-plugins.ts";
import { Profile } from "./framework/profile.ts";
import { PLUGIN_NAMES, type PluginName } from "./framework/scheduler-plugin.ts";
import { SERVICES_BY_NAMESPACE } from "./plugins/default-selector.ts";
import { VOLUME_CANDIDATES } from "./plugins/volume-binding.ts";
import { type ProfileMaker, SchedulerRun } from "./scheduler-run.ts";

export interface SchedulerProfile {
  /** Name of the profile in a pod's `spec.schedulerName`. */
  readonly schedulerName: string;
  /** Enabled plugins; all by default. */
  readonly plugins?: readonly PluginName[];
  /** Score weights that differ from the default, by plugin. */
  readonly weights?: Readonly<Partial<Record<PluginName, number>>>;
  /** Percentage of fitting nodes that is enough to score, 1 to 100. By default it follows from the number of nodes. */
  readonly percentageOfNodesToScore?: number;
}

export interface SchedulerOptions {
  /** Profiles; by default one with the name `default-scheduler` and all plugins. */
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
    indexes: [
      indexing(Service, SERVICES_BY_NAMESPACE, ({ metadata }) => [metadata.namespace ?? ""]),
      indexing(PersistentVolume, VOLUME_CANDIDATES, candidateValues),
    ],
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
