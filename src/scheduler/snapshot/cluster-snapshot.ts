/**
 * All nodes with their pods, as the scheduler counts them: those in the caches, and pods it has just placed.
 *
 * The cost of a change is proportional to its size. Within a step, pods may be detached and reattached to test what would fit without them.
 */

import type { Node } from "../../api/generated/types/core-v1.ts";
import { MatchCounts, type PodMatcher } from "./match-counts.ts";
import { NodeInfo } from "./node-info.ts";
import { interleaveZones, zoneOf } from "./node-order.ts";
import type { PodInfo } from "./pod-info.ts";
import type { SlotNumbers } from "./slot-numbers.ts";
import { TermTable } from "./term-table.ts";
import { type Topology, TopologyTable } from "./topology-table.ts";

export class ClusterSnapshot {
  readonly #nodes = new Map<string, NodeInfo>();
  readonly #freeSlots: number[] = [];
  #nextSlot = 0;
  #clock = 0;
  #order: readonly NodeInfo[] | undefined;
  /** Place of each pod by key. */
  readonly #places = new Map<string, PodPlacement>();
  /** Pods of unknown nodes by node name: a pod may arrive before its node or outlive it. */
  readonly #unplaced = new Map<string, Map<string, PodInfo>>();
  readonly #matchCounts = new MatchCounts();
  readonly #topologies = new TopologyTable();
  readonly terms = new TermTable();
  /** Number of nodes with an image, by image name. */
  readonly imageNodes = new Map<string, number>();
  /** Placed pods that use a claim, by the claim's `namespace/name`. */
  readonly claimUsers = new Map<string, Set<string>>();

  get size(): number {
    return this.#nodes.size;
  }

  /** Changes with each modification, even one that was undone. */
  get version(): number {
    return this.#clock;
  }

  find(name: string): NodeInfo | undefined {
    return this.#nodes.get(name);
  }

  /** Nodes interleaved by zone. */
  get order(): readonly NodeInfo[] {
    this.#order ??= interleaveZones(this.#nodes.values());
    return this.#order;
  }

  get nodes(): Iterable<NodeInfo> {
    return this.#nodes.values();
  }

  counts(matcher: PodMatcher): SlotNumbers {
    return this.#matchCounts.countsOf(matcher);
  }

  topology(key: string): Topology {
    return this.#topologies.topologyOf(key, this.#nodes.values());
  }

  findPod(key: string): PodPlacement | undefined {
    return this.#places.get(key);
  }

  addNode(node: Node): NodeInfo {
    const info = new NodeInfo(node, this.#freeSlots.pop() ?? this.#nextSlot++);
    this.#nodes.set(info.name, info);
    this.#order = undefined;
    this.#touch(info);
    info.placeVersion = info.version;
    this.#topologies.add(info);
    this.#countImages(info, 1);
    const unplaced = this.#unplaced.get(info.name);
    this.#unplaced.delete(info.name);
    for (const pod of unplaced?.values() ?? []) this.attach(pod, info);
    return info;
  }

  updateNode(info: NodeInfo, node: Node): void {
    const zone = zoneOf(info);
    this.#countImages(info, -1);
    info.setNode(node);
    this.#countImages(info, 1);
    this.#touch(info);
    info.placeVersion = info.version;
    this.#topologies.update(info);
    if (zoneOf(info) !== zone) this.#order = undefined;
  }

  removeNode(info: NodeInfo): void {
    const pods = [...info.pods.values()];
    for (const pod of pods) this.detach(pod, info);
    if (pods.length > 0) this.#unplaced.set(info.name, new Map(pods.map((pod) => [pod.key, pod])));
    this.#countImages(info, -1);
    this.#topologies.remove(info);
    this.#nodes.delete(info.name);
    this.#order = undefined;
    this.#clock++;
    this.#freeSlots.push(info.slot);
  }

  addPod(pod: PodInfo, nodeName: string): void {
    this.removePod(pod.key);
    this.#places.set(pod.key, { pod, nodeName });
    const node = this.#nodes.get(nodeName);
    if (node !== undefined) return this.attach(pod, node);
    const unplaced = this.#unplaced.get(nodeName) ?? new Map<string, PodInfo>();
    unplaced.set(pod.key, pod);
    this.#unplaced.set(nodeName, unplaced);
  }

  /** Returns the pod's former place. */
  removePod(key: string): PodPlacement | undefined {
    const place = this.#places.get(key);
    if (place === undefined) return undefined;
    this.#places.delete(key);
    const node = this.#nodes.get(place.nodeName);
    if (node !== undefined) this.detach(place.pod, node);
    const unplaced = this.#unplaced.get(place.nodeName);
    unplaced?.delete(key);
    if (unplaced?.size === 0) this.#unplaced.delete(place.nodeName);
    return place;
  }

  /** Replaces a pod by a version that counts the same. */
  replacePod(pod: PodInfo): void {
    const place = this.#places.get(pod.key);
    if (place === undefined) return;
    this.#places.set(pod.key, { pod, nodeName: place.nodeName });
    const pods = this.#nodes.get(place.nodeName)?.pods ?? this.#unplaced.get(place.nodeName);
    pods?.set(pod.key, pod);
  }

  /** Counts the pod on the node without recording its place; undone by `detach`. */
  attach(pod: PodInfo, node: NodeInfo): void {
    node.addPod(pod);
    this.#touch(node);
    this.#matchCounts.add(pod, node.slot);
    this.terms.add(pod, node.slot);
    for (const claim of claimsOf(pod)) {
      const users = this.claimUsers.get(claim) ?? new Set<string>();
      users.add(pod.key);
      this.claimUsers.set(claim, users);
    }
  }

  detach(pod: PodInfo, node: NodeInfo): void {
    node.removePod(pod);
    this.#touch(node);
    this.#matchCounts.remove(pod, node.slot);
    this.terms.remove(pod, node.slot);
    for (const claim of claimsOf(pod)) {
      const users = this.claimUsers.get(claim);
      users?.delete(pod.key);
      if (users?.size === 0) this.claimUsers.delete(claim);
    }
  }

  #touch(node: NodeInfo): void {
    node.version = ++this.#clock;
  }

  #countImages({ images }: NodeInfo, difference: 1 | -1): void {
    for (const name of images.keys()) {
      const count = (this.imageNodes.get(name) ?? 0) + difference;
      if (count === 0) this.imageNodes.delete(name);
      else this.imageNodes.set(name, count);
    }
  }
}

export interface PodPlacement {
  readonly pod: PodInfo;
  readonly nodeName: string;
}

const NO_CLAIMS: readonly string[] = [];

/** `namespace/name` of each claim that the pod uses. */
export function claimsOf({ pod, namespace, name }: PodInfo): readonly string[] {
  const { volumes } = pod.spec;
  if (volumes === undefined) return NO_CLAIMS;
  return volumes.flatMap((volume) => {
    if (volume.persistentVolumeClaim !== undefined)
      return [`${namespace}/${volume.persistentVolumeClaim.claimName}`];
    return volume.ephemeral === undefined ? [] : [`${namespace}/${name}-${volume.name}`];
  });
}
