/**
 * Binds pods to their chosen nodes.
 *
 * From the choice on, a pod counts as placed. If its binding fails, its room is free again. A binding that succeeded but never appears in
 * the caches is given up after a while.
 */

import { isApiError } from "../api/errors/api-error.ts";
import { Pod } from "../api/generated/types/core-v1.ts";
import { errorText } from "../base/error-text.ts";
import type { RoutineParts } from "../runtime/manager/routine.ts";
import { withCause } from "../runtime/manager/stated-cause.ts";
import { AssumedPods } from "./assumed-pods.ts";
import type { ClusterEvent } from "./framework/cluster-event.ts";
import type { SchedulingCycle, SchedulerPlugin } from "./framework/scheduler-plugin.ts";
import { InFlightWrites } from "./in-flight-writes.ts";
import { nominationPatch } from "./pod-status-patch.ts";
import type { ClusterSnapshot } from "./snapshot/cluster-snapshot.ts";
import type { NodeInfo } from "./snapshot/node-info.ts";
import type { PodInfo } from "./snapshot/pod-info.ts";

const UNKNOWN_OUTCOMES = ["ServiceUnavailable", "Timeout", "ServerTimeout", "InternalError"] as const;

/** The node for a pod, and why this one. */
export interface NodeChoice {
  readonly node: NodeInfo;
  readonly note: string;
}

export interface PodBinderOptions {
  readonly parts: RoutineParts;
  readonly snapshot: ClusterSnapshot;
  readonly writes: InFlightWrites;
  readonly signal: AbortSignal;
  readonly notice: (event: ClusterEvent) => void;
}

export class PodBinder {
  readonly #options: PodBinderOptions;
  readonly #assumed = new AssumedPods();
  /** PreBind work can take minutes, so it does not count as a write in flight. */
  readonly #waits = new InFlightWrites(Infinity, () => undefined);

  constructor(options: PodBinderOptions) {
    this.#options = options;
  }

  /** The pod counts as placed, but the caches show it without a node. */
  isAssumed({ key, uid }: PodInfo): boolean {
    return this.#assumed.has(key, uid);
  }

  /** The caches show the pod's node or its deletion. Returns true if the pod was assumed. */
  shown(key: string): boolean {
    return this.#assumed.remove(key);
  }

  /** The pod counts as placed at once. Resolves when it is bound; rejects, with all reservations undone, if it cannot be. */
  async bind(
    cycle: SchedulingCycle,
    { node, note }: NodeChoice,
    plugins: readonly SchedulerPlugin[],
  ): Promise<void> {
    const { snapshot, parts } = this.#options;
    const { pod } = cycle;
    for (const plugin of plugins) plugin.reserve?.(cycle, node);
    snapshot.addPod(pod, node.name);
    this.#assumed.add(pod);
    try {
      await this.#preBind(cycle, node, plugins);
      await this.#write(pod, node.name, note);
    } catch (error) {
      await this.#unreserve(cycle, plugins);
      if (this.isAssumed(pod)) this.#forget(pod);
      this.#options.notice({ type: "podUnreserved", pod });
      throw error;
    }
    if (this.isAssumed(pod)) this.#assumed.markBound(pod.key, parts.loop.elapsed());
  }

  /** Returns overdue assumed pods, which no longer count as placed. */
  giveUpOverdue(): readonly PodInfo[] {
    const overdue = this.#assumed.overdue(this.#options.parts.loop.elapsed());
    for (const pod of overdue) this.#forget(pod);
    return overdue;
  }

  /** Resolves when no PreBind work is left. */
  idle(): Promise<void> {
    return this.#waits.idle();
  }

  async #preBind(cycle: SchedulingCycle, node: NodeInfo, plugins: readonly SchedulerPlugin[]): Promise<void> {
    const waiting = plugins.filter((plugin) => plugin.hasPreBind?.(cycle) ?? false);
    if (waiting.length === 0) return;
    await this.#waits.run(async () => {
      await this.#announceNode(cycle.pod, node.name);
      for (const plugin of waiting) {
        const bound = plugin.preBind?.(cycle, node, this.#options.signal);
        await bound?.catch((error: unknown) => throwAs(`running PreBind plugin "${plugin.name}"`, error));
      }
    });
  }

  async #unreserve(cycle: SchedulingCycle, plugins: readonly SchedulerPlugin[]): Promise<void> {
    for (const plugin of plugins) {
      try {
        const undone = plugin.unreserve?.(cycle);
        if (undone !== undefined) await undone;
      } catch (error) {
        // The next attempt of the pod cleans up the remaining claims.
        this.#options.parts.log.warn("cannot release a pod's claims", { pod: cycle.pod.key, error });
      }
    }
  }

  /** Announces the node to cluster autoscalers and to the next leader. The binding does not depend on it. */
  async #announceNode({ pod, key }: PodInfo, nodeName: string): Promise<void> {
    const { parts, writes } = this.#options;
    const patch = nominationPatch(pod, nodeName);
    if (patch === undefined) return;
    try {
      const client = withCause(parts.client, {
        loop: "kube-scheduler",
        type: Pod,
        object: pod,
        note: "waits for a node",
      });
      await writes.run(() => client(Pod).patch(pod, patch, { subresource: "status" }));
    } catch (error) {
      parts.log.warn("cannot announce the node of a pod", { pod: key, error });
    }
  }

  async #write(pod: PodInfo, nodeName: string, note: string): Promise<void> {
    const { parts, writes } = this.#options;
    const { namespace, name, uid } = pod;
    const binding = {
      apiVersion: "v1",
      kind: "Binding",
      metadata: { namespace, name, uid },
      target: { kind: "Node", name: nodeName },
    };
    const client = withCause(parts.client, { loop: "kube-scheduler", type: Pod, object: pod.pod, note });
    const bindings = client(Pod).subresource("binding");
    try {
      await writes.run(() => bindings.create({ namespace, name }, binding));
    } catch (error) {
      if (!isOutcomeUnknown(error) || !(await this.#isBound(pod, nodeName))) {
        throwAs('running Bind plugin "DefaultBinder"', error);
      }
    }
  }

  /** Checks the pod after a lost response, so that its room and devices are not given to another pod. */
  async #isBound({ namespace, name, uid }: PodInfo, nodeName: string): Promise<boolean> {
    const { parts, writes } = this.#options;
    try {
      const found = await writes.run(() => parts.client(Pod).find({ namespace, name }));
      return found?.metadata.uid === uid && found.spec.nodeName === nodeName;
    } catch (error) {
      parts.log.warn("cannot check if a pod is bound", { pod: `${namespace}/${name}`, error });
      return false;
    }
  }

  #forget({ key }: PodInfo): void {
    const { snapshot, notice } = this.#options;
    this.#assumed.remove(key);
    const place = snapshot.removePod(key);
    if (place === undefined) return;
    notice({ type: "podFreed", pod: place.pod, node: snapshot.find(place.nodeName) });
  }
}

/** The server may have carried out the request despite the error. */
function isOutcomeUnknown(error: unknown): boolean {
  return UNKNOWN_OUTCOMES.some((reason) => isApiError(error, reason));
}

/** Adds the failed step to the error. NotFound and Conflict stay as they are: they mean that the pod changed. */
function throwAs(step: string, error: unknown): never {
  if (isApiError(error, "NotFound") || isApiError(error, "Conflict")) throw error;
  throw new Error(`${step}: ${errorText(error)}`, { cause: error });
}
