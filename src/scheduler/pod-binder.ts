/**
 * Puts pods on the nodes chosen for them. From the choice on a pod counts as placed; when it cannot be bound, the room is free again. A
 * binding that was answered but is never shown is given up after a while, so that a lost change cannot hold room for ever.
 */

import { isApiError } from "../api/errors/api-error.ts";
import { Pod } from "../api/generated/types/core-v1.ts";
import { errorText } from "../base/error-text.ts";
import type { RoutineParts } from "../runtime/manager/routine.ts";
import { AssumedPods } from "./assumed-pods.ts";
import type { ClusterEvent } from "./framework/cluster-event.ts";
import type { Cycle, SchedulerPlugin } from "./framework/plugin.ts";
import { InFlightWrites } from "./in-flight-writes.ts";
import { expectationPatch } from "./pod-status.ts";
import type { ClusterSnapshot } from "./snapshot/cluster-snapshot.ts";
import type { NodeInfo } from "./snapshot/node-info.ts";
import type { PodInfo } from "./snapshot/pod-info.ts";

const OPEN_OUTCOMES = ["ServiceUnavailable", "Timeout", "ServerTimeout", "InternalError"] as const;

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
  /** What must happen before a pod is bound can take minutes, and takes no place among the writes. */
  readonly #waits = new InFlightWrites(Infinity, () => undefined);

  constructor(options: PodBinderOptions) {
    this.#options = options;
  }

  /** Whether the pod counts as placed though the caches show it without a node. */
  isAssumed({ key, uid }: PodInfo): boolean {
    return this.#assumed.has(key, uid);
  }

  /** The caches show where it is, or that it is gone. Answers whether it was only assumed so far. */
  shown(key: string): boolean {
    return this.#assumed.remove(key);
  }

  /** The pod counts as placed at once. Resolves when it is bound; rejects, with everything taken back, when it is not. */
  async bind(cycle: Cycle, node: NodeInfo, plugins: readonly SchedulerPlugin[]): Promise<void> {
    const { snapshot, parts } = this.#options;
    const { pod } = cycle;
    for (const plugin of plugins) plugin.reserve?.(cycle, node);
    snapshot.addPod(pod, node.name);
    this.#assumed.add(pod);
    try {
      await this.#preBind(cycle, node, plugins);
      await this.#write(pod, node.name);
    } catch (error) {
      await this.#unreserve(cycle, plugins);
      if (this.isAssumed(pod)) this.#forget(pod);
      this.#options.notice({ type: "podUnreserved", pod });
      throw error;
    }
    if (this.isAssumed(pod)) this.#assumed.markBound(pod.key, parts.loop.elapsed());
  }

  /** Those whose binding should have been shown by now no longer count as placed. */
  giveUpOverdue(): readonly PodInfo[] {
    const overdue = this.#assumed.overdue(this.#options.parts.loop.elapsed());
    for (const pod of overdue) this.#forget(pod);
    return overdue;
  }

  /** Resolves when nothing is waited for any more. */
  idle(): Promise<void> {
    return this.#waits.idle();
  }

  async #preBind(cycle: Cycle, node: NodeInfo, plugins: readonly SchedulerPlugin[]): Promise<void> {
    const waiting = plugins.filter((plugin) => plugin.hasPreBind?.(cycle) ?? false);
    if (waiting.length === 0) return;
    await this.#waits.run(async () => {
      await this.#tellExpectation(cycle.pod, node.name);
      for (const plugin of waiting) {
        const bound = plugin.preBind?.(cycle, node, this.#options.signal);
        await bound?.catch((error: unknown) => throwAs(`running PreBind plugin "${plugin.name}"`, error));
      }
    });
  }

  async #unreserve(cycle: Cycle, plugins: readonly SchedulerPlugin[]): Promise<void> {
    for (const plugin of plugins) {
      try {
        const undone = plugin.unreserve?.(cycle);
        if (undone !== undefined) await undone;
      } catch (error) {
        // The next try begins with what was left.
        this.#options.parts.log.warn("a pod's claims could not be released", { pod: cycle.pod.key, error });
      }
    }
  }

  /** Whoever adds or removes nodes, and a scheduler that takes over, shall know where the pod is to be. It is bound without, too. */
  async #tellExpectation({ pod, key }: PodInfo, nodeName: string): Promise<void> {
    const { parts, writes } = this.#options;
    const patch = expectationPatch(pod, nodeName);
    if (patch === undefined) return;
    try {
      await writes.run(() => parts.client(Pod).patch(pod, patch, { subresource: "status" }));
    } catch (error) {
      parts.log.warn("the node of a pod could not be announced", { pod: key, error });
    }
  }

  async #write(pod: PodInfo, nodeName: string): Promise<void> {
    const { parts, writes } = this.#options;
    const { namespace, name, uid } = pod;
    const binding = {
      apiVersion: "v1",
      kind: "Binding",
      metadata: { namespace, name, uid },
      target: { kind: "Node", name: nodeName },
    };
    const bindings = parts.client(Pod).subresource("binding");
    try {
      await writes.run(() => bindings.create({ namespace, name }, binding));
    } catch (error) {
      if (!isOutcomeOpen(error) || !(await this.#isBound(pod, nodeName))) {
        throwAs('running Bind plugin "DefaultBinder"', error);
      }
    }
  }

  /** Its room and its devices must not go to others when only the answer was lost. */
  async #isBound({ namespace, name, uid }: PodInfo, nodeName: string): Promise<boolean> {
    const { parts, writes } = this.#options;
    try {
      const found = await writes.run(() => parts.client(Pod).find({ namespace, name }));
      return found?.metadata.uid === uid && found.spec.nodeName === nodeName;
    } catch (error) {
      parts.log.warn("whether a pod is bound could not be found out", { pod: `${namespace}/${name}`, error });
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

/** Whether the server may have done what it was asked for. */
function isOutcomeOpen(error: unknown): boolean {
  return OPEN_OUTCOMES.some((reason) => isApiError(error, reason));
}

/** Says what was under way. That something is gone or has changed is known by the error itself. */
function throwAs(what: string, error: unknown): never {
  if (isApiError(error, "NotFound") || isApiError(error, "Conflict")) throw error;
  throw new Error(`${what}: ${errorText(error)}`, { cause: error });
}
