/** Unschedulable pods, indexed by the plugins that rejected them. */

import type { PluginName } from "../framework/scheduler-plugin.ts";
import type { QueuedPod } from "./queued-pod.ts";

/** Key of pods for which there was no node at all. */
const NO_NODES = "";

export class UnschedulablePods {
  readonly #byRejector = new Map<PluginName | typeof NO_NODES, Set<QueuedPod>>();

  /** The entry's rejectors must not change until it is deleted. */
  add(entry: QueuedPod): void {
    for (const rejector of rejectorsOf(entry)) {
      const pods = this.#byRejector.get(rejector) ?? new Set<QueuedPod>();
      pods.add(entry);
      this.#byRejector.set(rejector, pods);
    }
  }

  delete(entry: QueuedPod): void {
    for (const rejector of rejectorsOf(entry)) this.#byRejector.get(rejector)?.delete(entry);
  }

  rejectedBy(plugin: PluginName): Iterable<QueuedPod> {
    return this.#byRejector.get(plugin) ?? [];
  }

  withoutNodes(): Iterable<QueuedPod> {
    return this.#byRejector.get(NO_NODES) ?? [];
  }
}

const ONLY_NO_NODES = [NO_NODES] as const;

function rejectorsOf({ rejectors }: QueuedPod): Iterable<PluginName | typeof NO_NODES> {
  return rejectors.size === 0 ? ONLY_NO_NODES : rejectors;
}
