/** A node with the sums over its pods, updated with each pod. */

import type { Node, Taint } from "../../api/generated/types/core-v1.ts";
import { HostPortTable } from "../../resources/pod/host-ports.ts";
import { isRepellingTaint } from "../../resources/pod/node-selection.ts";
import { resourceNumber } from "../../resources/pod/resource-number.ts";
import { amountsOf, AmountSum, type Amounts } from "./amounts.ts";
import type { PodInfo } from "./pod-info.ts";
import { normalImage } from "./pod-shape.ts";

export class NodeInfo {
  readonly name: string;
  /** Index of the node in arrays; unique among current nodes. */
  readonly slot: number;
  node: Node;
  /** Changes with the node or its pods; never reused, not even by other nodes. */
  version = 0;
  /** Changes only with the node's name, labels or taints. */
  placeVersion = 0;
  allocatable: Amounts;
  allowedPods: number;
  /** Taints with effect NoSchedule or NoExecute. */
  repellingTaints: readonly Taint[] = [];
  /** Image sizes in bytes by name. */
  images: ReadonlyMap<string, number> = new Map();
  readonly requested = new AmountSum();
  /** Requests for scoring, with defaults for containers without requests. */
  assumedMilliCpu = 0;
  assumedMemory = 0;
  readonly ports = new HostPortTable();
  /** Pods by key. */
  readonly pods = new Map<string, PodInfo>();

  constructor(node: Node, slot: number) {
    this.name = node.metadata.name;
    this.slot = slot;
    this.node = node;
    this.allocatable = amountsOf(new Map());
    this.allowedPods = 0;
    this.setNode(node);
  }

  setNode(node: Node): void {
    this.node = node;
    const amounts = Object.entries(node.status.allocatable ?? {});
    const numbers = new Map(amounts.map(([name, text]) => [name, resourceNumber(name, text)]));
    this.allocatable = amountsOf(numbers);
    this.allowedPods = numbers.get("pods") ?? 0;
    this.repellingTaints = (node.spec.taints ?? []).filter(isRepellingTaint);
    this.images = imagesOf(node);
  }

  addPod(pod: PodInfo): void {
    this.pods.set(pod.key, pod);
    this.requested.add(pod.shape.requests);
    this.assumedMilliCpu += pod.shape.assumed.milliCpu;
    this.assumedMemory += pod.shape.assumed.memory;
    this.ports.add(pod.shape.hostPorts);
  }

  removePod(pod: PodInfo): void {
    const wasExact = this.requested.isExact;
    this.pods.delete(pod.key);
    this.ports.remove(pod.shape.hostPorts);
    this.requested.remove(pod.shape.requests);
    this.assumedMilliCpu -= pod.shape.assumed.milliCpu;
    this.assumedMemory -= pod.shape.assumed.memory;
    if (!wasExact) this.#recomputeSums();
  }

  /** Sums beyond the safe integers lose digits. Recomputing them removes the error. */
  #recomputeSums(): void {
    this.requested.clear();
    this.assumedMilliCpu = 0;
    this.assumedMemory = 0;
    for (const { shape } of this.pods.values()) {
      this.requested.add(shape.requests);
      this.assumedMilliCpu += shape.assumed.milliCpu;
      this.assumedMemory += shape.assumed.memory;
    }
  }
}

function imagesOf({ status }: Node): ReadonlyMap<string, number> {
  const found = new Map<string, number>();
  for (const { names, sizeBytes = 0 } of status.images ?? []) {
    for (const name of names) found.set(normalImage(name), Math.max(0, sizeBytes));
  }
  return found;
}
