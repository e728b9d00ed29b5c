/**
 * Deletes pods that do not tolerate a NoExecute taint of their node, or no longer tolerate it.
 *
 * Reads Nodes and Pods. Writes the condition DisruptionTarget of evicted pods and deletes them. A pod uses memory here only while its node
 * has a NoExecute taint.
 */
import { isApiError } from "../../api/errors/api-error.ts";
import { Node, Pod, type Taint } from "../../api/generated/types/core-v1.ts";
import { jsonEqual } from "../../api/patch/json-equal.ts";
import type { Timer } from "../../base/loop/loop.ts";
import { untilAborted } from "../../base/loop/until-aborted.ts";
import type { Client } from "../../client/client.ts";
import { isTerminal } from "../../resources/pod/pod-state.ts";
import type { ObjectChange } from "../../runtime/cache/object-change.ts";
import { WriteLimiter } from "../../runtime/controller/write-limiter.ts";
import type { Routine, RoutineParts } from "../../runtime/manager/routine.ts";
import { objectCause, withCause } from "../../runtime/manager/stated-cause.ts";
import { disruptionTarget } from "../pods/disruption-target.ts";
import { podsByNode, podsOnNode } from "../pods/pods-by-node.ts";
import { evictingTaints, findEvictionAt } from "./eviction-plan.ts";

const RETRY_MS = 10_000;
const WHY = {
  reason: "DeletionByTaintManager",
  message: "Taint manager: deleting due to NoExecute taint",
};

export const taintEvictionRoutine: Routine = {
  name: "taint-eviction-controller",
  reads: [Node, Pod],
  indexes: [podsByNode],
  run: (parts, signal) => new EvictionRun(parts, signal).run(),
};

interface Eviction {
  readonly pod: Pod;
  /** Time at which this controller first saw the taints. */
  readonly seenAt: number;
  readonly at: number;
  readonly timer: Timer;
}

class EvictionRun {
  readonly #parts: RoutineParts;
  /** Errors after its abort are ignored. */
  readonly #signal: AbortSignal;
  /** Pending evictions by pod uid. */
  readonly #evictions = new Map<string, Eviction>();
  readonly #writes = new WriteLimiter<string>();

  constructor(parts: RoutineParts, signal: AbortSignal) {
    this.#parts = parts;
    this.#signal = signal;
  }

  async run(): Promise<void> {
    const { subscribe, cache } = this.#parts;
    const leave = [
      subscribe(Node, (change) => this.#nodeChanged(change)),
      subscribe(Pod, (change) => this.#podChanged(change)),
    ];
    for (const node of cache(Node).list()) if (evictingTaints(node).length > 0) this.#checkAll(node);
    await untilAborted(this.#signal);
    for (const each of leave) each();
    for (const { timer } of this.#evictions.values()) timer.cancel();
    await this.#writes.quiet();
  }

  #nodeChanged({ before, after }: ObjectChange<Node>): void {
    const node = after ?? before;
    if (node === undefined) return;
    const was = before === undefined ? [] : evictingTaints(before);
    const is = after === undefined ? [] : evictingTaints(after);
    if (!jsonEqual(was, is)) this.#checkAll(node);
  }

  #checkAll({ metadata }: Node): void {
    for (const pod of podsOnNode(metadata.name, this.#parts.cache)) this.#check(pod);
  }

  #podChanged({ before, after }: ObjectChange<Pod>): void {
    if (before !== undefined && before.metadata.uid !== after?.metadata.uid) this.#cancel(before, "gone");
    if (after?.spec.nodeName !== undefined) this.#check(after);
  }

  #check(pod: Pod): void {
    const taints = this.#taintsAt(pod.spec.nodeName ?? "");
    const known = this.#evictions.get(pod.metadata.uid);
    if (taints.length === 0 && known === undefined) return;
    if (isTerminal(pod) || pod.metadata.deletionTimestamp !== undefined) {
      this.#cancel(pod, "gone");
      return;
    }
    const seenAt = known?.seenAt ?? this.#parts.loop.now();
    const at = findEvictionAt(pod, taints, seenAt);
    if (at === undefined) this.#cancel(pod, "allowed");
    else if (known?.at !== at) {
      known?.timer.cancel();
      this.#schedule(pod, { seenAt, at });
    }
  }

  #taintsAt(name: string): readonly Taint[] {
    const node = this.#parts.cache(Node).find({ name });
    return node === undefined ? [] : evictingTaints(node);
  }

  #schedule(pod: Pod, { seenAt, at }: Pick<Eviction, "seenAt" | "at">): void {
    const due = Math.max(at, this.#parts.loop.now());
    const timer = this.#parts.loop.timer(due, "progress", () => this.#evict(pod.metadata.uid));
    this.#evictions.set(pod.metadata.uid, { pod, seenAt, at, timer });
  }

  #cancel(pod: Pod, why: "gone" | "allowed"): void {
    const known = this.#evictions.get(pod.metadata.uid);
    if (known === undefined) return;
    known.timer.cancel();
    this.#evictions.delete(pod.metadata.uid);
    if (why === "allowed") this.#report(pod, `Cancelling deletion of Pod ${nameOf(pod)}`);
  }

  #report(pod: Pod, message: string): void {
    this.#parts.event(pod, { type: "Normal", reason: "TaintManagerEviction", message });
  }

  #evict(uid: string): void {
    const eviction = this.#evictions.get(uid);
    if (eviction === undefined || this.#signal.aborted) return;
    this.#report(eviction.pod, `Marking for deletion Pod ${nameOf(eviction.pod)}`);
    this.#writes.send(uid, () => this.#delete(eviction));
  }

  #evicting(pod: Pod): Client {
    const { cache, client } = this.#parts;
    const node = cache(Node).find({ name: pod.spec.nodeName ?? "" });
    return withCause(client, {
      loop: "taint-eviction",
      type: Pod,
      object: pod,
      note: "does not tolerate the taints of its node",
      ...(node !== undefined && { reasons: [objectCause({ type: Node, object: node })] }),
    });
  }

  async #delete(eviction: Eviction): Promise<void> {
    const { pod, seenAt } = eviction;
    const { loop, log } = this.#parts;
    const pods = this.#evicting(pod)(Pod);
    const condition = disruptionTarget(pod, WHY, loop.now());
    const changes = { metadata: { uid: pod.metadata.uid }, status: { conditions: [condition] } };
    try {
      await pods.patch(pod, { type: "strategic", changes }, { subresource: "status" });
      await pods.delete(pod);
    } catch (error) {
      // The pod may have ended, or its eviction may have been cancelled.
      const isWanted = this.#evictions.get(pod.metadata.uid) === eviction;
      if (isApiError(error, "NotFound") || !isWanted || this.#signal.aborted) return;
      log.warn("cannot evict a pod; retrying", { pod: nameOf(pod), error });
      this.#schedule(pod, { seenAt, at: loop.now() + RETRY_MS });
    }
  }
}

function nameOf({ metadata }: Pod): string {
  return `${metadata.namespace ?? ""}/${metadata.name}`;
}
