/** The resources that the node grants a pod, and the change of its containers to them. */
import type { Pod } from "../../api/generated/types/core-v1.ts";
import type { RecordedEvent } from "../../runtime/events/recorded-event.ts";
import type { RuntimeHandler } from "../runtime-handler.ts";
import type { ContainerRecord } from "./container-record.ts";
import { compareSize } from "./container-size.ts";
import { grantedByStatus, withSizesOf, type SizeProblem } from "./granted-size.ts";
import { MemoryMeasurement } from "./memory-measurement.ts";
import { resizeCompleted, resizeFailed } from "./resize-events.ts";
import { containersOf } from "./restart-policy.ts";

export interface PodSizeParts {
  readonly recordOf: (container: string) => ContainerRecord;
  readonly event: (event: Omit<RecordedEvent, "host">) => void;
  /** Requests a pass for the pod. */
  readonly wake: () => void;
}

export class PodSize {
  readonly #parts: PodSizeParts;
  #pod: Pod;
  /** The spec whose resources are granted, and the pod with these resources. */
  #grantedSpec: Pod["spec"];
  #grantedPod: Pod;
  #problem: SizeProblem | undefined;
  /** True until all containers have the granted resources. */
  #isResizing = false;
  /** Text of the last Event. */
  #shrinkProblem: string | undefined;
  /** Exists during a resize. */
  #memory: MemoryMeasurement | undefined;

  constructor(pod: Pod, parts: PodSizeParts) {
    this.#parts = parts;
    this.#pod = pod;
    this.#grantedSpec = pod.status.startTime === undefined ? pod.spec : grantedByStatus(pod);
    this.#grantedPod = withSizesOf(pod, this.#grantedSpec);
  }

  /** The pod with the granted resources; the same object when they equal its spec. */
  get grantedPod(): Pod {
    return this.#grantedPod;
  }

  /** Why the requested size is not granted. */
  get problem(): SizeProblem | undefined {
    return this.#problem;
  }

  get isMeasuring(): boolean {
    return this.#memory?.isSettled === false;
  }

  /** Memory that the container uses; 0 outside of a resize. */
  memoryOf(container: string): number {
    return this.#memory?.bytesOf(container) ?? 0;
  }

  /** Records the node's decision about the requested size. */
  settle(problem: SizeProblem | undefined): void {
    if (problem === undefined) {
      if (this.#grantedPod !== this.#pod) this.#isResizing = true;
      this.#grantedSpec = this.#pod.spec;
    }
    this.#grantedPod = withSizesOf(this.#pod, this.#grantedSpec);
    this.#problem = problem;
  }

  /** Takes the newest version of the pod. */
  take(pod: Pod): void {
    this.#pod = pod;
    this.#grantedPod = withSizesOf(pod, this.#grantedSpec);
    // Releases the older spec, and makes the next comparison one of references.
    if (this.#grantedPod === pod) this.#grantedSpec = pod.spec;
  }

  /** A resize may lower a memory limit, which needs the present usage. Requests a pass with the result. */
  measure(handler: RuntimeHandler | undefined, now: number): void {
    if (!this.#isResizing || handler === undefined) return;
    this.#memory ??= new MemoryMeasurement();
    this.#memory.begin(handler, this.#pod, { now, settled: () => this.#parts.wake() });
  }

  /** Sends one Event when all containers have the granted resources; none for a pod that has ended. */
  finish({ hasEnded }: { readonly hasEnded: boolean }): void {
    if (!this.#isResizing || this.isMeasuring || this.#isGettingSize()) return;
    this.#isResizing = false;
    this.#memory = undefined;
    if (!hasEnded) this.#parts.event(resizeCompleted(this.#grantedPod));
  }

  /** Sends one Event for each new reason why a container keeps more memory than its limit. */
  tellShrink(problem: string | undefined, { hasEnded }: { readonly hasEnded: boolean }): void {
    const isNew = problem !== this.#shrinkProblem;
    this.#shrinkProblem = problem;
    if (!isNew || problem === undefined || hasEnded) return;
    for (const words of resizeFailed(this.#pod, problem)) this.#parts.event(words);
  }

  #isGettingSize(): boolean {
    const podLimits = this.#grantedPod.spec.resources?.limits;
    return containersOf(this.#grantedPod).some(({ container }) => {
      const record = this.#parts.recordOf(container.name);
      const { phase, exit } = record;
      if (phase.type === "running") return compareSize(container, record, podLimits) !== "same";
      return phase.type === "starting" || exit?.isReplaced === true;
    });
  }
}
