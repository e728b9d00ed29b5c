/** Pods that fit nowhere, found by the plugins that rejected them. */

import type { PluginName } from "../framework/plugin.ts";
import type { QueuedPod } from "./queued-pod.ts";

/** Those for which there was no node at all. */
const NOBODY = "";

export class ParkedPods {
  readonly #byRejector = new Map<PluginName | typeof NOBODY, Set<QueuedPod>>();

  /** What rejected it must stay what it is until it is deleted. */
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
    return this.#byRejector.get(NOBODY) ?? [];
  }
}

const ONLY_NOBODY = [NOBODY] as const;

function rejectorsOf({ rejectors }: QueuedPod): Iterable<PluginName | typeof NOBODY> {
  return rejectors.size === 0 ? ONLY_NOBODY : rejectors;
}
