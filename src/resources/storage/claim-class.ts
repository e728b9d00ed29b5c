import type { PersistentVolumeClaim } from "../../api/generated/types/core-v1.ts";

/** How a class was named before there was a field for it; where both are given, this counts. */
const OLD_CLASS = "volume.beta.kubernetes.io/storage-class";

/** The class whose volumes a claim asks for; empty when it names none. */
export function storageClassOf({ metadata, spec }: PersistentVolumeClaim): string {
  const { annotations } = metadata;
  if (annotations !== undefined && Object.hasOwn(annotations, OLD_CLASS)) return annotations[OLD_CLASS] ?? "";
  return spec.storageClassName ?? "";
}
