/** A node and the sums over the pods on it, kept up with each pod that comes and goes. */

import type { Node, Taint } from "../../api/generated/types/core-v1.ts";
import { HostPortTable } from "../../resources/pod/host-ports.ts";
import { isRepellingTaint } from "../../resources/pod/node-selection.ts";
import { resourceNumber } from "../../resources/pod/resource-number.ts";
import { amountsOf, AmountSum, type Amounts } from "./amounts.ts";
import type { PodInfo } from "./pod-info.ts";
import { normalImage } from "./pod-shape.ts";

export class NodeInfo {
  readonly name: string;
  /** Where counts about this node lie; no two nodes share one at the same time. */
  readonly slot: number;
  node: Node;
  /** New with each change of the node or its pods, and never used before by any node. */
  version = 0;
  /** New with each change of its name, labels or taints only. */
  placeVersion = 0;
  allocatable: Amounts;
  allowedPods: number;
  /** Only those that keep pods away. */
  repellingTaints: readonly Taint[] = [];
  /** Bytes by name. */
  images: ReadonlyMap<string, number> = new Map();
  readonly requested = new AmountSum();
  /** What its pods are taken to need when scores are made. */
  assumedMilliCpu = 0;
  assumedMemory = 0;
  readonly ports = new HostPortTable();
  /** By key. */
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
    if (!wasExact) this.#sumAnew();
  }

  /** Absurd amounts lose digits when they are added; what is left after them must not be wrong for ever. */
  #sumAnew(): void {
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
