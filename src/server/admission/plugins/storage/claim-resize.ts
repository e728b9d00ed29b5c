/** PersistentVolumeClaimResize: a claim may grow only if it is bound and its StorageClass allows expansion. */
import type { PersistentVolumeClaim } from "../../../../api/generated/types/core-v1.ts";
import type { StorageClass } from "../../../../api/generated/types/storage-v1.ts";
import { compareQuantities, parseQuantity } from "../../../../api/values/quantity.ts";
import { storageClassOf } from "../../../../resources/storage/claim-class.ts";
import { kindPrefix } from "../../../objects/lister.ts";
import { definePlugin } from "../../plugin.ts";
import type { AdmissionRequest } from "../../plugin.ts";
import { refusal } from "../../refusal.ts";

const CLASSES = kindPrefix<StorageClass>("storageclasses");

export const persistentVolumeClaimResize = definePlugin<PersistentVolumeClaim>({
  name: "PersistentVolumeClaimResize",
  interests: [{ resources: ["persistentvolumeclaims"], operations: ["UPDATE"] }],

  validate(claim, request) {
    const previous = request.previous as PersistentVolumeClaim | undefined;
    if (previous === undefined || compareQuantities(sizeOf(claim), sizeOf(previous)) <= 0) return;
    if (previous.status.phase !== "Bound")
      throw refusal(request, "Only bound persistent volume claims can be expanded");
    if (!mayGrow(claim, previous, request)) {
      const why =
        "only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc must support resize";
      throw refusal(request, why);
    }
  },
});

function sizeOf({ spec }: PersistentVolumeClaim): ReturnType<typeof parseQuantity> {
  return parseQuantity(spec.resources.requests?.["storage"] ?? "0");
}

function mayGrow(
  claim: PersistentVolumeClaim,
  previous: PersistentVolumeClaim,
  { memory }: AdmissionRequest,
): boolean {
  const name = storageClassOf(claim);
  if (name === "" || name !== storageClassOf(previous)) return false;
  return memory.find(CLASSES, name)?.allowVolumeExpansion === true;
}
