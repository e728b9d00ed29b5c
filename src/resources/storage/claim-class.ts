import type { PersistentVolume, PersistentVolumeClaim } from "../../api/generated/types/core-v1.ts";
import { ownValue } from "../rules/value-rules.ts";

/** Annotation for the class that predates the field. The annotation wins over the field. */
const OLD_CLASS = "volume.beta.kubernetes.io/storage-class";

/** Class of a volume or a claim; empty when it has none. */
export function storageClassOf({ metadata, spec }: PersistentVolume | PersistentVolumeClaim): string {
  return ownValue(metadata.annotations, OLD_CLASS) ?? spec.storageClassName ?? "";
}

/** True also for a claim with the empty class. */
export function hasStorageClass({ metadata, spec }: PersistentVolumeClaim): boolean {
  return spec.storageClassName !== undefined || ownValue(metadata.annotations, OLD_CLASS) !== undefined;
}
