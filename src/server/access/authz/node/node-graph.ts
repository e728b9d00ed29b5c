/**
 * Finds the objects that a node may access, through the pods that run on it. It uses memory only, with an index of
 * pods by node.
 */
import type { PersistentVolume, Pod } from "../../../../api/generated/types/core-v1.ts";
import type { ResourceSlice } from "../../../../api/generated/types/resource-v1.ts";
import type { VolumeAttachment } from "../../../../api/generated/types/storage-v1.ts";
import type { Loop } from "../../../../base/loop/loop.ts";
import type { YieldingWork } from "../../../../base/loop/yielding-work.ts";
import { podReferences, volumeSecretPlaces } from "../../../../resources/pod/pod-references.ts";
import type { ReferencedResource } from "../../../../resources/pod/pod-references.ts";
import type { ApiObject } from "../../../../resources/rules/kind-rules.ts";
import { prefixEnd } from "../../../../store/store.ts";
import type { Store } from "../../../../store/store.ts";
import { ValueIndex } from "../../../objects/selection/value-index.ts";
import { StoredObject } from "../../../objects/stored-object.ts";

const PODS = "/registry/pods/";
const VOLUMES = "/registry/persistentvolumes/";
const ATTACHMENTS = "/registry/volumeattachments/";
const SLICES = "/registry/resourceslices/";

interface Place {
  readonly namespace: string;
  readonly name: string;
}

export class NodeGraph {
  readonly #store: Store;
  readonly #turn: () => Promise<void>;
  readonly #podsByNode = new ValueIndex(PODS, nodeOf);
  /** Volumes by the claim that they name, even before the claim names the volume. */
  readonly #volumesByClaim = new ValueIndex(VOLUMES, claimOf);

  constructor(store: Store, loop: Loop) {
    this.#store = store;
    this.#turn = () => new Promise((resolve) => loop.post("request", resolve));
  }

  /**
   * Undefined if references of pods can be queried now, otherwise settles when they can: after a start all pods must be
   * read first, and after many changes those.
   */
  ready(): Promise<void> | undefined {
    const { view } = this.#store;
    const pods = this.#podsByNode.ready(view, this.#turn);
    const volumes = this.#volumesByClaim.ready(view, this.#turn);
    return pods === undefined || volumes === undefined
      ? (pods ?? volumes)
      : Promise.all([pods, volumes]).then(() => undefined);
  }

  /**
   * Reads pods and volumes that changed since the last question. Called periodically: otherwise changes accumulate
   * while no node asks, and the next question pays for all of them. Returns true if there were any.
   */
  *keepUp(): YieldingWork<boolean> {
    const { view } = this.#store;
    const havePods = yield* this.#podsByNode.keepUpInPieces(view);
    const haveVolumes = yield* this.#volumesByClaim.keepUpInPieces(view);
    return havePods || haveVolumes;
  }

  runsPod(node: string, { namespace, name }: Place): boolean {
    return this.#find<Pod>(`${PODS}${namespace}/${name}`)?.spec.nodeName === node;
  }

  /** True if a pod on the node refers to the object, directly or through a claim's volume. */
  refersTo(node: string, resource: ReferencedResource, { namespace, name }: Place): boolean {
    const reference = `${resource}/${name}`;
    for (const pod of this.#podsOn(node))
      if (pod.metadata.namespace === namespace && podReferences(pod).has(reference)) return true;
    return resource === "secrets" && this.#volumesNeed(node, `${namespace}/${name}`);
  }

  /** True if a pod on the node uses the volume's claim. */
  usesVolume(node: string, name: string): boolean {
    const claim = this.#find<PersistentVolume>(`${VOLUMES}${name}`)?.spec.claimRef;
    if (claim === undefined) return false;
    return this.refersTo(node, "persistentvolumeclaims", {
      namespace: claim.namespace ?? "",
      name: claim.name ?? "",
    });
  }

  hasAttachment(node: string, name: string): boolean {
    return this.#find<VolumeAttachment>(`${ATTACHMENTS}${name}`)?.spec.nodeName === node;
  }

  hasSlice(node: string, name: string): boolean {
    return this.#find<ResourceSlice>(`${SLICES}${name}`)?.spec.nodeName === node;
  }

  #volumesNeed(node: string, secret: string): boolean {
    for (const pod of this.#podsOn(node)) {
      const { namespace = "" } = pod.metadata;
      for (const reference of podReferences(pod)) {
        if (!reference.startsWith("persistentvolumeclaims/")) continue;
        const volumes = this.#volumesOf(`${namespace}/${reference.slice(reference.indexOf("/") + 1)}`);
        if (volumes.some((volume) => volumeSecretPlaces(volume).includes(secret))) return true;
      }
    }
    return false;
  }

  #volumesOf(claim: string): readonly PersistentVolume[] {
    return [...this.#indexed<PersistentVolume>(this.#volumesByClaim, claim, VOLUMES)];
  }

  #podsOn(node: string): Iterable<Pod> {
    return this.#indexed<Pod>(this.#podsByNode, node, PODS);
  }

  *#indexed<T extends ApiObject>(index: ValueIndex, value: string, prefix: string): Iterable<T> {
    const range = { from: prefix, to: prefixEnd(prefix) };
    for (const { key } of index.candidates(this.#store.view, [value], range) ?? []) {
      const object = this.#find<T>(key);
      if (object !== undefined) yield object;
    }
  }

  #find<T extends ApiObject>(key: string): T | undefined {
    const entry = this.#store.view.get(key);
    return entry === undefined ? undefined : (StoredObject.of(entry).object as T);
  }
}

function nodeOf(pod: ApiObject): string | undefined {
  const { nodeName = "" } = (pod as Pod).spec;
  return nodeName === "" ? undefined : nodeName;
}

function claimOf(volume: ApiObject): string | undefined {
  const { claimRef } = (volume as PersistentVolume).spec;
  return claimRef === undefined ? undefined : `${claimRef.namespace ?? ""}/${claimRef.name ?? ""}`;
}
