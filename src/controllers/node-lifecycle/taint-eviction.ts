/**
 * Deletes pods that do not put up with a NoExecute taint of their node, or no longer do.
 *
 * Reads Nodes and Pods; writes the condition DisruptionTarget of pods that must go, and deletes them. A pod costs something only while its node
 * has such a taint.
 */
import { isApiError } from "../../api/errors/api-error.ts";
import { Node, Pod, type Taint } from "../../api/generated/types/core-v1.ts";
import { jsonEqual } from "../../api/patch/json-equal.ts";
import type { Timer } from "../../base/loop/loop.ts";
import { untilAborted } from "../../base/loop/until-aborted.ts";
import { isTerminal } from "../../resources/pod/pod-state.ts";
import type { ObjectChange } from "../../runtime/cache/object-change.ts";
import { WriteWindow } from "../../runtime/controller/write-window.ts";
import type { Routine, RoutineParts } from "../../runtime/manager/routine.ts";
import { disruptionTarget } from "../pods/disruption-target.ts";
import { podsByNode, podsOnNode } from "../pods/pods-by-node.ts";
import { drivingTaints, findEvictionAt } from "./eviction-plan.ts";

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
  /** When the taints were first seen by this loop. */
  readonly seenAt: number;
  readonly at: number;
  readonly timer: Timer;
}

class EvictionRun {
  readonly #parts: RoutineParts;
  /** What fails once it is aborted is no failure. */
  readonly #signal: AbortSignal;
  /** By uid. */
  readonly #evictions = new Map<string, Eviction>();
  readonly #writes = new WriteWindow<string>();

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
    for (const node of cache(Node).list()) if (drivingTaints(node).length > 0) this.#lookAtAll(node);
    await untilAborted(this.#signal);
    for (const each of leave) each();
    for (const { timer } of this.#evictions.values()) timer.cancel();
    await this.#writes.quiet();
  }

  #nodeChanged({ before, after }: ObjectChange<Node>): void {
    const node = after ?? before;
    if (node === undefined) return;
    const was = before === undefined ? [] : drivingTaints(before);
    const is = after === undefined ? [] : drivingTaints(after);
    if (!jsonEqual(was, is)) this.#lookAtAll(node);
  }

  #lookAtAll({ metadata }: Node): void {
    for (const pod of podsOnNode(metadata.name, this.#parts.cache)) this.#look(pod);
  }

  #podChanged({ before, after }: ObjectChange<Pod>): void {
    if (before !== undefined && before.metadata.uid !== after?.metadata.uid) this.#cancel(before, "gone");
    if (after?.spec.nodeName !== undefined) this.#look(after);
  }

  #look(pod: Pod): void {
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
      this.#await(pod, { seenAt, at });
    }
  }

  #taintsAt(name: string): readonly Taint[] {
    const node = this.#parts.cache(Node).find({ name });
    return node === undefined ? [] : drivingTaints(node);
  }

  #await(pod: Pod, { seenAt, at }: Pick<Eviction, "seenAt" | "at">): void {
    const due = Math.max(at, this.#parts.loop.now());
    const timer = this.#parts.loop.timer(due, "progress", () => this.#evict(pod.metadata.uid));
    this.#evictions.set(pod.metadata.uid, { pod, seenAt, at, timer });
  }

  #cancel(pod: Pod, why: "gone" | "allowed"): void {
    const known = this.#evictions.get(pod.metadata.uid);
    if (known === undefined) return;
    known.timer.cancel();
    this.#evictions.delete(pod.metadata.uid);
    if (why === "allowed") this.#tell(pod, `Cancelling deletion of Pod ${nameOf(pod)}`);
  }

  #tell(pod: Pod, message: string): void {
    this.#parts.event(pod, { type: "Normal", reason: "TaintManagerEviction", message });
  }

  #evict(uid: string): void {
    const eviction = this.#evictions.get(uid);
    if (eviction === undefined || this.#signal.aborted) return;
    this.#tell(eviction.pod, `Marking for deletion Pod ${nameOf(eviction.pod)}`);
    this.#writes.send(uid, () => this.#delete(eviction));
  }

  async #delete(eviction: Eviction): Promise<void> {
    const { pod, seenAt } = eviction;
    const pods = this.#parts.client(Pod);
    const { loop, log } = this.#parts;
    const condition = disruptionTarget(pod, WHY, loop.now());
    const changes = { metadata: { uid: pod.metadata.uid }, status: { conditions: [condition] } };
    try {
      await pods.patch(pod, { type: "strategic", changes }, { subresource: "status" });
      await pods.delete(pod);
    } catch (error) {
      // Meanwhile the pod may have gone, or may be allowed to stay.
      const isWanted = this.#evictions.get(pod.metadata.uid) === eviction;
      if (isApiError(error, "NotFound") || !isWanted || this.#signal.aborted) return;
      log.warn("pod not evicted", { pod: nameOf(pod), error });
      this.#await(pod, { seenAt, at: loop.now() + RETRY_MS });
    }
  }
}

function nameOf({ metadata }: Pod): string {
  return `${metadata.namespace ?? ""}/${metadata.name}`;
}
