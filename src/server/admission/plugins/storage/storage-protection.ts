/**
 * StorageObjectInUseProtection: adds finalizers to claims, volumes and VolumeAttributesClasses, so that none is
 * removed while in use.
 */
import { definePlugin } from "../../plugin.ts";

const FINALIZERS: ReadonlyMap<string, string> = new Map([
  ["persistentvolumeclaims", "kubernetes.io/pvc-protection"],
  ["persistentvolumes", "kubernetes.io/pv-protection"],
  ["volumeattributesclasses", "kubernetes.io/vac-protection"],
]);

export const storageObjectInUseProtection = definePlugin({
  name: "StorageObjectInUseProtection",
  interests: [
    {
      resources: ["persistentvolumeclaims", "persistentvolumes", "volumeattributesclasses.storage.k8s.io"],
      operations: ["CREATE"],
    },
  ],

  mutate({ metadata }, { resource }) {
    const finalizer = FINALIZERS.get(resource.facts.name);
    const { finalizers = [] } = metadata;
    if (finalizer !== undefined && !finalizers.includes(finalizer))
      metadata.finalizers = [...finalizers, finalizer];
  },
});
