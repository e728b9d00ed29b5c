/**
 * Remembers why pods of a shape fit on no node, while the snapshot is unchanged. If a thousand equal pods find the cluster full, one search
 * suffices for all.
 */

import type { PluginName } from "./framework/scheduler-plugin.ts";
import { claimsOf, type ClusterSnapshot } from "./snapshot/cluster-snapshot.ts";
import { type PodInfo, sameLabels } from "./snapshot/pod-info.ts";
import type { PodShape } from "./snapshot/pod-shape.ts";

export interface UnschedulableResult {
  readonly message: string;
  readonly plugins: ReadonlySet<PluginName>;
}

interface Remembered {
  readonly pod: PodInfo;
  readonly result: UnschedulableResult;
}

export class UnschedulableCache {
  readonly #snapshot: ClusterSnapshot;
  readonly #remembered = new Map<PodShape, Remembered>();
  #version = -1;

  constructor(snapshot: ClusterSnapshot) {
    this.#snapshot = snapshot;
  }

  recall(pod: PodInfo): UnschedulableResult | undefined {
    if (this.#version !== this.#snapshot.version) return undefined;
    const found = this.#remembered.get(pod.shape);
    return found !== undefined && isAlike(found.pod, pod) ? found.result : undefined;
  }

  /** Remembers a result. Call it only without nominations: the result must hold for every equal pod. */
  note(pod: PodInfo, result: UnschedulableResult): void {
    // Volumes and devices depend on more than the snapshot.
    if (hasClaims(pod) || result.plugins.has("DynamicResources")) return;
    if (this.#version !== this.#snapshot.version) this.#remembered.clear();
    this.#version = this.#snapshot.version;
    this.#remembered.set(pod.shape, { pod, result });
  }

  /** Forgets all results after a change that is not part of the snapshot. */
  clear(): void {
    this.#version = -1;
  }
}

function isAlike(left: PodInfo, right: PodInfo): boolean {
  return (
    left.namespace === right.namespace &&
    left.priority === right.priority &&
    left.schedulerName === right.schedulerName &&
    left.pod.spec.preemptionPolicy === right.pod.spec.preemptionPolicy &&
    !hasClaims(right) &&
    sameLabels(left.labels, right.labels)
  );
}

function hasClaims(pod: PodInfo): boolean {
  return claimsOf(pod).length > 0 || (pod.pod.spec.resourceClaims ?? []).length > 0;
}
