/** Pods that wait for a node on which others were told to make room: the room is theirs unless somebody more important comes. */

import type { PodInfo } from "../snapshot/pod-info.ts";

const NOBODY: readonly PodInfo[] = [];

export class Nominations {
  readonly #nodeByPod = new Map<string, string>();
  readonly #podsByNode = new Map<string, Map<string, PodInfo>>();
  readonly #onFreed: (pod: PodInfo, nodeName: string) => void;

  /** `onFreed` is told of room on a node that is no longer kept for a pod, and which the pod has not taken either. */
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

  /** `placedOn` is the node that the pod has instead of a promise, if any. */
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

  /** Those on the node that go before this pod. */
  before({ key, priority }: PodInfo, nodeName: string): readonly PodInfo[] {
    const pods = this.#podsByNode.size === 0 ? undefined : this.#podsByNode.get(nodeName);
    if (pods === undefined) return NOBODY;
    return [...pods.values()].filter((pod) => pod.key !== key && pod.priority >= priority);
  }
}
