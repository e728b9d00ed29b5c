/** Extended resources that device classes stand for. */

import { isExtendedResource } from "../rules/resource-name.ts";

/** Before the name of any class: what its devices can be asked for by, without the class saying so. */
export const EVERY_CLASS = "deviceclass.resource.kubernetes.io/";
/** On the claim that the scheduler makes for all such resources of a pod. */
export const MADE_FOR_RESOURCES = "resource.kubernetes.io/extended-resource-claim";

/** Whether a class may stand for it. */
export function isDeviceResource(name: string): boolean {
  return isExtendedResource(name) || name.startsWith(EVERY_CLASS);
}
