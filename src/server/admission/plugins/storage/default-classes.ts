/** DefaultStorageClass and DefaultIngressClass: set the default class on claims and Ingresses without a class. */
import type { PersistentVolumeClaim } from "../../../../api/generated/types/core-v1.ts";
import type { Ingress, IngressClass } from "../../../../api/generated/types/networking-v1.ts";
import type { StorageClass } from "../../../../api/generated/types/storage-v1.ts";
import type { ApiObject } from "../../../../resources/rules/kind-rules.ts";
import { newestDefault } from "../../../../resources/rules/newest-default.ts";
import { hasStorageClass } from "../../../../resources/storage/claim-class.ts";
import { findDefaultStorageClass } from "../../../../resources/storage/default-class.ts";
import { kindPrefix } from "../../../objects/lister.ts";
import { definePlugin } from "../../plugin.ts";

const STORAGE_CLASSES = kindPrefix<StorageClass>("storageclasses");
const INGRESS_CLASSES = kindPrefix<IngressClass>("ingressclasses");

const DEFAULT_INGRESS = ["ingressclass.kubernetes.io/is-default-class"];
/** Annotation that named the class before the API had a field for it. */
const OLD_INGRESS = "kubernetes.io/ingress.class";

export const defaultStorageClass = definePlugin<PersistentVolumeClaim>({
  name: "DefaultStorageClass",
  interests: [{ resources: ["persistentvolumeclaims"], operations: ["CREATE"] }],

  mutate(draft, { memory }) {
    if (hasStorageClass(draft)) return;
    const found = findDefaultStorageClass(memory.list(STORAGE_CLASSES));
    if (found !== undefined) draft.spec.storageClassName = found;
  },
});

export const defaultIngressClass = definePlugin<Ingress>({
  name: "DefaultIngressClass",
  interests: [{ resources: ["ingresses.networking.k8s.io"], operations: ["CREATE"] }],

  mutate(draft, { memory }) {
    if (draft.spec.ingressClassName !== undefined || hasAnnotation(draft, OLD_INGRESS)) return;
    const found = newestDefault(memory.list(INGRESS_CLASSES), DEFAULT_INGRESS);
    if (found !== undefined) draft.spec.ingressClassName = found;
  },
});

function hasAnnotation({ metadata }: ApiObject, name: string): boolean {
  return metadata.annotations !== undefined && Object.hasOwn(metadata.annotations, name);
}
