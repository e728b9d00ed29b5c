/** Extended resources of pods that device classes provide. */

import { isExtendedResource } from "../rules/resource-name.ts";

/** Before the name of a class: the extended resource that each class provides without a setting. */
export const EVERY_CLASS = "deviceclass.resource.kubernetes.io/";
/** Annotation of the claim that the scheduler creates for all extended resources of a pod. */
export const MADE_FOR_RESOURCES = "resource.kubernetes.io/extended-resource-claim";

/** Whether a device class can provide the resource. */
export function isDeviceResource(name: string): boolean {
  return isExtendedResource(name) || name.startsWith(EVERY_CLASS);
}
