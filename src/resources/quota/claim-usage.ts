import type { PersistentVolumeClaim } from "../../api/generated/types/core-v1.ts";
import { compareQuantities, parseQuantity } from "../../api/values/quantity.ts";
import type { ResourceList } from "../rules/resource-amount.ts";
import { storageClassOf } from "../storage/claim-class.ts";

const CLASS_SUFFIX = ".storageclass.storage.k8s.io/";

/** Requested storage, in total and for the claim's class, and the number of claims of the class. */
export function claimUsage(claim: PersistentVolumeClaim): ResourceList {
  const storageClass = storageClassOf(claim);
  const size = sizeOf(claim);
  const total = size === undefined ? {} : { "requests.storage": size };
  if (storageClass === "") return total;
  const prefix = storageClass + CLASS_SUFFIX;
  return {
    ...total,
    [`${prefix}persistentvolumeclaims`]: "1",
    ...(size !== undefined && { [`${prefix}requests.storage`]: size }),
  };
}

/** While a failed expansion is undone, the larger allocated size counts. */
function sizeOf({ spec, status }: PersistentVolumeClaim): string | undefined {
  const asked = spec.resources.requests?.["storage"];
  const given = status.allocatedResources?.["storage"];
  if (asked === undefined || given === undefined) return asked;
  return compareQuantities(parseQuantity(given), parseQuantity(asked)) > 0 ? given : asked;
}
