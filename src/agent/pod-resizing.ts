/**
 * Grants pods the size that they request, against the resources of their node. A resize without room waits; when a pod leaves the
 * node, waiting resizes are retried in order of priority.
 */
import { Node } from "../api/generated/types/core-v1.ts";
import type { RoutineParts } from "../runtime/manager/routine.ts";
import { findSizeProblem } from "./node/admit-pod.ts";
import type { AgentNode } from "./node/agent-node.ts";
import type { SizeProblem } from "./pod/granted-size.ts";
import type { PodWorker } from "./pod/pod-worker.ts";
import { resizePending, resizeStarted } from "./pod/resize-events.ts";

export interface PodResizingParts {
  readonly routine: RoutineParts;
  /** Schedules a pass of a worker whose resize was granted later. */
  readonly mark: (worker: PodWorker) => void;
}

export class PodResizing {
  readonly #parts: PodResizingParts;
  /** Workers whose resize waits for free resources. */
  readonly #deferred = new Set<PodWorker>();

  constructor(parts: PodResizingParts) {
    this.#parts = parts;
  }

  /** Grants the requested size, unless the resize must wait for free resources. */
  resize(worker: PodWorker, node: AgentNode): void {
    const { pod } = worker;
    node.allocated.remove(pod.metadata.uid);
    const object =
      worker.grantedPod === pod ? undefined : this.#parts.routine.cache(Node).find({ name: node.name });
    const problem = object === undefined ? undefined : findSizeProblem(pod, object, node.allocated);
    worker.settleSize(problem);
    node.allocated.add(worker.grantedPod);
    if (object !== undefined) this.#report(worker, problem);
    if (problem?.reason === "Deferred") this.#deferred.add(worker);
    else if (this.#deferred.delete(worker) || object !== undefined) this.#sizeDeferred(node);
  }

  /** Frees the resources of the pod. No-op when they were freed before. */
  release(worker: PodWorker, node: AgentNode | undefined): void {
    const wasThere = node?.allocated.remove(worker.pod.metadata.uid) ?? false;
    this.#deferred.delete(worker);
    if (wasThere && node !== undefined) this.#sizeDeferred(node);
  }

  #report({ pod, place }: PodWorker, problem: SizeProblem | undefined): void {
    const events = problem === undefined ? [resizeStarted(pod)] : resizePending(pod, problem);
    for (const event of events) this.#parts.routine.event(pod, { ...event, host: place.node });
  }

  /** Retries deferred resizes of the node, in order of priority. */
  #sizeDeferred(node: AgentNode): void {
    if (this.#deferred.size === 0) return;
    const waiting = [...this.#deferred].filter(({ place }) => place.node === node.name);
    for (const worker of waiting.toSorted(byPriority)) {
      if (!this.#deferred.has(worker)) continue;
      this.resize(worker, node);
      if (!this.#deferred.has(worker)) this.#parts.mark(worker);
    }
  }
}

function byPriority({ pod: left }: PodWorker, { pod: right }: PodWorker): number {
  return (right.spec.priority ?? 0) - (left.spec.priority ?? 0);
}
