/** Turns cache changes into changes of the snapshot and the queue, and into events that may help unschedulable pods. */

import type { ApiObject, ResourceType } from "../api/api-object.ts";
import {
  Namespace,
  Node,
  PersistentVolume,
  PersistentVolumeClaim,
  Pod,
} from "../api/generated/types/core-v1.ts";
import { DeviceClass, ResourceClaim, ResourceSlice } from "../api/generated/types/resource-v1.ts";
import { CSIDriver, CSINode, CSIStorageCapacity, StorageClass } from "../api/generated/types/storage-v1.ts";
import { inSlices } from "../base/loop/in-slices.ts";
import { runInTurns } from "../base/loop/run-in-turns.ts";
import { hasGrantedResources } from "../resources/pod/pod-requests.ts";
import { isTerminal } from "../resources/pod/pod-state.ts";
import { isSame } from "../resources/rules/value-rules.ts";
import type { ObjectChange } from "../runtime/cache/object-change.ts";
import type { RoutineParts } from "../runtime/manager/routine.ts";
import type { ClusterEvent } from "./framework/cluster-event.ts";
import type { ClusterSnapshot, PodPlacement } from "./snapshot/cluster-snapshot.ts";
import { isSameToScheduler, podInfo, podKey, sameLabels } from "./snapshot/pod-info.ts";
import type { PodInfo } from "./snapshot/pod-info.ts";
import type { PodShapes } from "./snapshot/pod-shape.ts";

export interface ClusterEventTarget {
  readonly snapshot: ClusterSnapshot;
  readonly shapes: PodShapes;
  notice(event: ClusterEvent): void;
  /** Reports an unscheduled pod; `isChanged` is false if only its status changed. */
  waiting(pod: PodInfo, isChanged: boolean): void;
  /** Reports a pod on a node, regardless of its scheduler. Returns true if the pod was assumed. */
  placed(pod: PodInfo): boolean;
  /** Reports a pod that needs no node: deleted, ended, or being deleted without a node. */
  gone(key: string): void;
  volumesChanged(): void;
}

type Parts = Pick<RoutineParts, "cache" | "loop" | "subscribe">;

export class ClusterEventSource {
  readonly #target: ClusterEventTarget;
  readonly #parts: Parts;
  readonly #unsubscribe: (() => void)[] = [];
  #isStopped = false;

  constructor(target: ClusterEventTarget, parts: Parts) {
    this.#target = target;
    this.#parts = parts;
  }

  /**
   * Feeds each change until `stop`, and all existing objects, in slices. Resolves when all of them were fed. A change that
   * arrives before its object was fed is fed first; the same state again changes nothing.
   */
  async start(): Promise<void> {
    this.#on(Node, (change) => this.#nodeChanged(change));
    this.#on(Pod, (change) => this.#podChanged(change));
    this.#on(Namespace, ({ before, after }) => {
      if (!sameLabels(before?.metadata.labels, after?.metadata.labels))
        this.#target.notice({ type: "namespaceLabels" });
    });
    this.#on(PersistentVolumeClaim, ({ before, after }) => {
      const { metadata } = after ?? before ?? { metadata: { name: "", namespace: "" } };
      this.#target.volumesChanged();
      this.#target.notice({ type: "claim", key: `${metadata.namespace ?? ""}/${metadata.name}` });
    });
    this.#on(PersistentVolume, () => {
      this.#target.volumesChanged();
      this.#target.notice({ type: "volume" });
    });
    for (const type of [StorageClass, CSIDriver, CSIStorageCapacity]) {
      this.#on<ApiObject>(type, () => this.#target.notice({ type: "storageClass" }));
    }
    this.#on(CSINode, () => this.#target.notice({ type: "csiNode" }));
    this.#on(ResourceClaim, ({ before, after }) => {
      this.#target.volumesChanged();
      this.#target.notice({ type: "resourceClaim", before, after });
    });
    this.#on(ResourceSlice, ({ after }) => {
      if (after !== undefined) this.#target.notice({ type: "resourceSlice" });
    });
    this.#on(DeviceClass, ({ before, after }) => this.#target.notice({ type: "deviceClass", before, after }));
    await this.#feed(Node, (after) => this.#nodeChanged({ before: undefined, after }));
    await this.#feed(Pod, (after) => this.#podChanged({ before: undefined, after }));
  }

  async #feed<T extends ApiObject>(type: ResourceType<T>, add: (object: T) => void): Promise<void> {
    const { cache, loop } = this.#parts;
    const addUnlessStopped = (object: T): void => {
      if (!this.#isStopped) add(object);
    };
    await runInTurns(inSlices(cache(type).walk(), addUnlessStopped), loop, "loop");
  }

  stop(): void {
    this.#isStopped = true;
    for (const unsubscribe of this.#unsubscribe.splice(0)) unsubscribe();
  }

  #on<T extends ApiObject>(type: ResourceType<T>, listener: (change: ObjectChange<T>) => void): void {
    this.#unsubscribe.push(this.#parts.subscribe(type, listener));
  }

  #nodeChanged({ before, after }: ObjectChange<Node>): void {
    const { snapshot } = this.#target;
    const known = snapshot.find((after ?? before)?.metadata.name ?? "");
    if (after === undefined) {
      if (known === undefined) return;
      snapshot.removeNode(known);
      return this.#target.notice({ type: "nodeRemoved", name: known.name });
    }
    if (known === undefined) {
      return this.#target.notice({ type: "nodeAdded", node: snapshot.addNode(after) });
    }
    const events = nodeDifferences(known.node, after);
    if (events.length === 0 && isSame(known.node.status.images, after.status.images)) {
      known.node = after;
      return;
    }
    snapshot.updateNode(known, after);
    for (const type of events) this.#target.notice({ type, node: known });
  }

  #podChanged({ before, after }: ObjectChange<Pod>): void {
    if (after === undefined || (before !== undefined && before.metadata.uid !== after.metadata.uid)) {
      if (before !== undefined) this.#podGone(before);
    }
    if (after === undefined) return;
    if (isTerminal(after)) this.#podGone(after);
    else if ((after.spec.nodeName ?? "") !== "") this.#podPlaced(after);
    else this.#podWaiting(before, after);
  }

  #podGone(pod: Pod): void {
    const { snapshot } = this.#target;
    const key = podKey(pod);
    const place = snapshot.removePod(key);
    this.#target.gone(key);
    if (place === undefined) return;
    this.#target.notice({ type: "podFreed", pod: place.pod, node: snapshot.find(place.nodeName) });
  }

  #podPlaced(pod: Pod): void {
    const { snapshot, shapes } = this.#target;
    const place = snapshot.findPod(podKey(pod));
    const nodeName = pod.spec.nodeName ?? "";
    if (place?.nodeName === nodeName && isUnchanged(place.pod.pod, pod)) {
      return this.#podShown(place, { ...place.pod, pod });
    }
    const info = podInfo(pod, shapes);
    const difference = place === undefined ? "new" : placeDifference(place, { pod: info, nodeName });
    if (isCountedAlike(place, info, difference)) snapshot.replacePod(info);
    else snapshot.addPod(info, nodeName);
    const wasExpected = this.#target.placed(info);
    if (place !== undefined && difference !== "none") {
      this.#target.notice({ type: "podFreed", pod: place.pod, node: snapshot.find(place.nodeName) });
    }
    if (wasExpected || difference === "new" || difference === "other") {
      this.#target.notice({ type: "podPlaced", pod: info });
    }
  }

  /** Handles a pod that counts as before. For an assumed pod, the cache shows its node for the first time. */
  #podShown({ pod: { pod: before } }: PodPlacement, pod: PodInfo): void {
    this.#target.snapshot.replacePod(pod);
    if (before.spec.nodeName === pod.pod.spec.nodeName) return;
    if (this.#target.placed(pod)) this.#target.notice({ type: "podPlaced", pod });
  }

  #podWaiting(before: Pod | undefined, pod: Pod): void {
    // An assumed pod's room becomes free.
    if (pod.metadata.deletionTimestamp !== undefined) return this.#podGone(pod);
    const isChanged = before === undefined || !isUnchanged(before, pod) || !hasSameClaims(before, pod);
    this.#target.waiting(podInfo(pod, this.#target.shapes), isChanged);
  }
}

/** Granted resources are the only relevant part of a pod's status. */
function isUnchanged(before: Pod, after: Pod): boolean {
  if (hasGrantedResources(before) || hasGrantedResources(after)) return false;
  return isSameToScheduler(before, after);
}

/** The pod's status names the claims created from templates. */
function hasSameClaims({ status: before }: Pod, { status: after }: Pod): boolean {
  return isSame(before.resourceClaimStatuses, after.resourceClaimStatuses);
}

/** Both versions add the same to every sum and count. */
function isCountedAlike(before: PodPlacement | undefined, after: PodInfo, difference: string): boolean {
  return (
    difference === "none" &&
    before?.pod.uid === after.uid &&
    before.pod.isTerminating === after.isTerminating &&
    before.pod.priority === after.priority
  );
}

/** `leaving`: the pod started to terminate. It frees room for constraints that ignore terminating pods. */
function placeDifference(before: PodPlacement, after: PodPlacement): "none" | "leaving" | "other" {
  const isSamePlace =
    before.nodeName === after.nodeName &&
    before.pod.shape === after.pod.shape &&
    sameLabels(before.pod.labels, after.pod.labels);
  if (!isSamePlace) return "other";
  return after.pod.isTerminating && !before.pod.isTerminating ? "leaving" : "none";
}

type NodeUpdate = "nodeAllocatable" | "nodeLabels" | "nodeTaints" | "nodeFeatures";

function nodeDifferences(before: Node, after: Node): readonly NodeUpdate[] {
  const found: NodeUpdate[] = [];
  if (!isSame(before.status.allocatable, after.status.allocatable)) found.push("nodeAllocatable");
  if (!sameLabels(before.metadata.labels, after.metadata.labels)) found.push("nodeLabels");
  const isSameTaints =
    isSame(before.spec.taints, after.spec.taints) &&
    (before.spec.unschedulable ?? false) === (after.spec.unschedulable ?? false);
  if (!isSameTaints) found.push("nodeTaints");
  if (!isSame(before.status.declaredFeatures, after.status.declaredFeatures)) found.push("nodeFeatures");
  return found;
}
