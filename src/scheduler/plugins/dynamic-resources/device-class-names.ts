/** Finds device classes that provide an extended resource: pods request it like any other and get devices of the class. */

import { DeviceClass } from "../../../api/generated/types/resource-v1.ts";
import { EVERY_CLASS } from "../../../resources/device/extended-resource.ts";
import type { CacheReader } from "../../../runtime/controller/controller.ts";
import type { PodShape } from "../../snapshot/pod-shape.ts";

const NONE: ReadonlyMap<string, DeviceClass> = new Map();

/** Device classes by requested resource, for pods of this shape. */
export function classesProviding(
  { requests }: PodShape,
  cache: CacheReader,
): ReadonlyMap<string, DeviceClass> {
  if (requests.others.size === 0) return NONE;
  const found = new Map<string, DeviceClass>();
  for (const name of requests.others.keys()) {
    const deviceClass = classProviding(name, cache);
    if (deviceClass !== undefined) found.set(name, deviceClass);
  }
  return found;
}

function classProviding(resource: string, cache: CacheReader): DeviceClass | undefined {
  const classes = cache(DeviceClass);
  if (resource.startsWith(EVERY_CLASS)) return classes.find({ name: resource.slice(EVERY_CLASS.length) });
  // The newest class wins, so that one can replace another; equal timestamps are decided by name.
  let newest: DeviceClass | undefined;
  for (const each of classes.list()) {
    if (each.spec.extendedResourceName !== resource) continue;
    if (newest === undefined || createdAt(each) > createdAt(newest)) newest = each;
  }
  return newest;
}

function createdAt({ metadata }: DeviceClass): number {
  return Date.parse(metadata.creationTimestamp ?? "");
}
