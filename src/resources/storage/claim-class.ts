import type { PersistentVolume, PersistentVolumeClaim } from "../../api/generated/types/core-v1.ts";
import { ownValue } from "../rules/value-rules.ts";

/** How a class was named before there was a field for it; where both are given, this counts. */
const OLD_CLASS = "volume.beta.kubernetes.io/storage-class";

/** The class of a volume, or whose volumes a claim asks for; empty when it names none. */
export function storageClassOf({ metadata, spec }: PersistentVolume | PersistentVolumeClaim): string {
  return ownValue(metadata.annotations, OLD_CLASS) ?? spec.storageClassName ?? "";
}

/** Also a claim that names the empty class has made its choice. */
export function hasStorageClass({ metadata, spec }: PersistentVolumeClaim): boolean {
  return spec.storageClassName !== undefined || ownValue(metadata.annotations, OLD_CLASS) !== undefined;
}
