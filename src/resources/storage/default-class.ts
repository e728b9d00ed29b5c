/** Finds the default StorageClass, for claims without a class. */
import type { StorageClass } from "../../api/generated/types/storage-v1.ts";
import { newestDefault } from "../rules/newest-default.ts";

const MARKS = [
  "storageclass.kubernetes.io/is-default-class",
  "storageclass.beta.kubernetes.io/is-default-class",
];

export function findDefaultStorageClass(classes: readonly StorageClass[]): string | undefined {
  return newestDefault(classes, MARKS);
}
