/** Pods that wait for a node on which victims make room. The room is reserved against pods of lower priority. */

import type { PodInfo } from "../snapshot/pod-info.ts";

const NO_PODS: readonly PodInfo[] = [];

export class Nominations {
  readonly #nodeByPod = new Map<string, string>();
  readonly #podsByNode = new Map<string, Map<string, PodInfo>>();
  readonly #onFreed: (pod: PodInfo, nodeName: string) => void;

  /** `onFreed` is called when a nomination ends and the pod was not placed on that node. */
  constructor(onFreed: (pod: PodInfo, nodeName: string) => void = () => undefined) {
    this.#onFreed = onFreed;
  }

  nominate(pod: PodInfo, nodeName: string): void {
    this.withdraw(pod.key, nodeName);
    this.#nodeByPod.set(pod.key, nodeName);
    const pods = this.#podsByNode.get(nodeName) ?? new Map<string, PodInfo>();
    pods.set(pod.key, pod);
    this.#podsByNode.set(nodeName, pods);
  }

  /** `placedOn` is the node that the pod was placed on instead, if any. */
  withdraw(key: string, placedOn?: string): void {
    const nodeName = this.#nodeByPod.get(key);
    if (nodeName === undefined) return;
    this.#nodeByPod.delete(key);
    const pods = this.#podsByNode.get(nodeName);
    const pod = pods?.get(key);
    pods?.delete(key);
    if (pods?.size === 0) this.#podsByNode.delete(nodeName);
    if (pod !== undefined && nodeName !== placedOn) this.#onFreed(pod, nodeName);
  }

  get isEmpty(): boolean {
    return this.#nodeByPod.size === 0;
  }

  nodeOf(key: string): string | undefined {
    return this.#nodeByPod.get(key);
  }

  on(nodeName: string): Iterable<PodInfo> {
    return this.#podsByNode.get(nodeName)?.values() ?? [];
  }

  /** Pods nominated for the node that take precedence over this pod. */
  before({ key, priority }: PodInfo, nodeName: string): readonly PodInfo[] {
    const pods = this.#podsByNode.size === 0 ? undefined : this.#podsByNode.get(nodeName);
    if (pods === undefined) return NO_PODS;
    return [...pods.values()].filter((pod) => pod.key !== key && pod.priority >= priority);
  }
}
