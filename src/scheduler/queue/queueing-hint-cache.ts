/** Asks the plugins of all profiles which events can help which pods. */

import { type ClusterEvent, type ClusterEventType, mayMakeSchedulable } from "../framework/cluster-event.ts";
import type { Profile } from "../framework/profile.ts";
import type { PluginName, SchedulerPlugin } from "../framework/scheduler-plugin.ts";
import type { PodInfo } from "../snapshot/pod-info.ts";
import type { PodShape } from "../snapshot/pod-shape.ts";
import type { QueuedPod } from "./queued-pod.ts";
import type { QueueingHints } from "./scheduling-queue.ts";

const NO_PLUGINS: ReadonlySet<PluginName> = new Set();

export class QueueingHintCache implements QueueingHints {
  readonly #profiles: ReadonlyMap<string, Profile>;
  readonly #pluginsByEvent = new Map<ClusterEventType, Set<PluginName>>();
  /** Answers about the current event by plugins that depend on the pod's shape only; the event is checked for all unschedulable pods in turn. */
  readonly #answers = new Map<SchedulerPlugin, Map<PodShape, boolean>>();
  #event: ClusterEvent | undefined;

  constructor(profiles: readonly Profile[]) {
    this.#profiles = new Map(profiles.map((profile) => [profile.schedulerName, profile]));
    for (const { name, queueingHints } of profiles.flatMap(({ plugins }) => plugins)) {
      for (const type of Object.keys(queueingHints) as ClusterEventType[]) {
        const plugins = this.#pluginsByEvent.get(type) ?? new Set<PluginName>();
        plugins.add(name);
        this.#pluginsByEvent.set(type, plugins);
      }
    }
  }

  plugins(type: ClusterEventType): Iterable<PluginName> {
    return this.#pluginsByEvent.get(type) ?? [];
  }

  holders(pod: PodInfo): ReadonlySet<PluginName> {
    return this.#profiles.get(pod.schedulerName)?.holders(pod) ?? NO_PLUGINS;
  }

  helps({ pod, rejectors }: QueuedPod, event: ClusterEvent): boolean {
    if (this.#event !== event) {
      this.#event = event;
      this.#answers.clear();
    }
    const plugins = this.#profiles.get(pod.schedulerName)?.plugins ?? [];
    return plugins.some((plugin) => rejectors.has(plugin.name) && this.#ask(plugin, pod, event));
  }

  #ask(plugin: SchedulerPlugin, pod: PodInfo, event: ClusterEvent): boolean {
    if (plugin.scope === "cluster") return mayMakeSchedulable(plugin.queueingHints, pod, event);
    const answers = this.#answers.get(plugin) ?? new Map<PodShape, boolean>();
    this.#answers.set(plugin, answers);
    const known = answers.get(pod.shape);
    if (known !== undefined) return known;
    const answer = mayMakeSchedulable(plugin.queueingHints, pod, event);
    answers.set(pod.shape, answer);
    return answer;
  }
}
