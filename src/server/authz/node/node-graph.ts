/** Which objects a node has to do with, by the pods that run on it. Answers from memory; pods are found by their node, not looked through. */
import type { PersistentVolume, PersistentVolumeClaim, Pod } from "../../../api/generated/types/core-v1.ts";
import type { ResourceSlice } from "../../../api/generated/types/resource-v1.ts";
import type { VolumeAttachment } from "../../../api/generated/types/storage-v1.ts";
import type { ApiObject } from "../../../resources/kind-rules.ts";
import type { Store } from "../../../store/store.ts";
import { LiveIndex } from "../../live-index.ts";
import { StoredObject } from "../../stored-object.ts";
import { podReferences, volumeSecretPlaces } from "./pod-references.ts";
import type { ReferencedResource } from "./pod-references.ts";

const PODS = "/registry/pods/";
const VOLUMES = "/registry/persistentvolumes/";
const CLAIMS = "/registry/persistentvolumeclaims/";
const ATTACHMENTS = "/registry/volumeattachments/";
const SLICES = "/registry/resourceslices/";

interface Place {
  readonly namespace: string;
  readonly name: string;
}

export class NodeGraph {
  readonly #store: Store;
  /** By node: the keys of its pods. */
  readonly #pods = new Map<string, Set<string>>();
  readonly #index = new LiveIndex<Pod>({
    prefix: PODS,
    add: (pod) => this.#add(pod),
    remove: (pod) => this.#remove(pod),
  });

  constructor(store: Store) {
    this.#store = store;
  }

  runsPod(node: string, { namespace, name }: Place): boolean {
    return this.#find<Pod>(`${PODS}${namespace}/${name}`)?.spec.nodeName === node;
  }

  /** Whether a pod on the node refers to it, or to a claim whose volume does. */
  refersTo(node: string, resource: ReferencedResource, { namespace, name }: Place): boolean {
    const reference = `${resource}/${name}`;
    for (const pod of this.#podsOn(node))
      if (pod.metadata.namespace === namespace && podReferences(pod).has(reference)) return true;
    return resource === "secrets" && this.#volumesNeed(node, `${namespace}/${name}`);
  }

  /** Whether a pod on the node uses the claim that the volume belongs to. */
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
        const volume = this.#volumeOf(`${namespace}/${reference.slice(reference.indexOf("/") + 1)}`);
        if (volume !== undefined && volumeSecretPlaces(volume).includes(secret)) return true;
      }
    }
    return false;
  }

  /** The volume that says itself that it belongs to the claim. */
  #volumeOf(claim: string): PersistentVolume | undefined {
    const name = this.#find<PersistentVolumeClaim>(`${CLAIMS}${claim}`)?.spec.volumeName ?? "";
    const volume = name === "" ? undefined : this.#find<PersistentVolume>(`${VOLUMES}${name}`);
    const { namespace, name: of } = volume?.spec.claimRef ?? {};
    return `${namespace}/${of}` === claim ? volume : undefined;
  }

  *#podsOn(node: string): Iterable<Pod> {
    this.#index.catchUp(this.#store.view);
    for (const key of this.#pods.get(node) ?? []) {
      const pod = this.#find<Pod>(key);
      if (pod !== undefined) yield pod;
    }
  }

  #find<T extends ApiObject>(key: string): T | undefined {
    const entry = this.#store.view.get(key);
    return entry === undefined ? undefined : (StoredObject.of(entry).object as T);
  }

  #add(pod: Pod): void {
    const { nodeName = "" } = pod.spec;
    if (nodeName === "") return;
    let pods = this.#pods.get(nodeName);
    if (pods === undefined) {
      pods = new Set();
      this.#pods.set(nodeName, pods);
    }
    pods.add(keyOf(pod));
  }

  #remove(pod: Pod): void {
    const { nodeName = "" } = pod.spec;
    const pods = this.#pods.get(nodeName);
    pods?.delete(keyOf(pod));
    if (pods?.size === 0) this.#pods.delete(nodeName);
  }
}

function keyOf({ metadata: { namespace = "", name } }: Pod): string {
  return `${PODS}${namespace}/${name}`;
}
