/** StorageObjectInUseProtection: claims, volumes and classes of their attributes are held from the start, so that none goes while somebody uses it. */
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
