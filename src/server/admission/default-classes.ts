/** DefaultStorageClass and DefaultIngressClass: what names no class gets the one that is marked as the default. */
import type { PersistentVolumeClaim } from "../../api/generated/types/core-v1.ts";
import type { Ingress, IngressClass } from "../../api/generated/types/networking-v1.ts";
import type { StorageClass } from "../../api/generated/types/storage-v1.ts";
import type { ApiObject } from "../../resources/kind-rules.ts";
import { definePlugin } from "./plugin.ts";
import { shelf } from "./server-memory.ts";

const STORAGE_CLASSES = shelf<StorageClass>("storageclasses");
const INGRESS_CLASSES = shelf<IngressClass>("ingressclasses");

const DEFAULT_STORAGE = [
  "storageclass.kubernetes.io/is-default-class",
  "storageclass.beta.kubernetes.io/is-default-class",
];
const DEFAULT_INGRESS = ["ingressclass.kubernetes.io/is-default-class"];
/** How classes were named before there were fields for them. */
const OLD_STORAGE = "volume.beta.kubernetes.io/storage-class";
const OLD_INGRESS = "kubernetes.io/ingress.class";

export const defaultStorageClass = definePlugin<PersistentVolumeClaim>({
  name: "DefaultStorageClass",
  interests: [{ resources: ["persistentvolumeclaims"], operations: ["CREATE"] }],

  mutate(draft, { memory }) {
    if (draft.spec.storageClassName !== undefined || hasAnnotation(draft, OLD_STORAGE)) return;
    const found = newestDefault(memory.list(STORAGE_CLASSES), DEFAULT_STORAGE);
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

/** The newest of those that are marked; of equally new ones the first by name. */
function newestDefault(classes: readonly ApiObject[], marks: readonly string[]): string | undefined {
  let newest: ApiObject | undefined;
  for (const each of classes) {
    const isDefault = marks.some((mark) => each.metadata.annotations?.[mark] === "true");
    if (isDefault && (newest === undefined || birthOf(each) > birthOf(newest))) newest = each;
  }
  return newest?.metadata.name;
}

function birthOf({ metadata }: ApiObject): string {
  return metadata.creationTimestamp ?? "";
}
