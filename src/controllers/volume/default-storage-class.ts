/**
 * Creates a default StorageClass at the start if the cluster has no StorageClass.
 *
 * A user may remove its default annotation or choose another default; the class is not restored while the cluster runs.
 */
import { isApiError } from "../../api/errors/api-error.ts";
import { StorageClass } from "../../api/generated/types/storage-v1.ts";
import { untilAborted } from "../../base/loop/until-aborted.ts";
import type { Routine } from "../../runtime/manager/routine.ts";
import { withCause } from "../../runtime/manager/stated-cause.ts";
import { DEFAULT_CLASS, HOST_PATH_PROVISIONER } from "./annotations.ts";

const NAME = "standard";

export const defaultStorageClass: Routine = {
  name: "default-storage-class",
  reads: [StorageClass],
  async run({ cache, client, log }, signal) {
    if (cache(StorageClass).size === 0) {
      try {
        const note = "the cluster did not have at its start";
        const stated = {
          loop: "default-storage-class",
          type: StorageClass,
          object: { metadata: { name: NAME } },
        };
        await withCause(client, { ...stated, note })(StorageClass).create({
          metadata: { name: NAME, annotations: { [DEFAULT_CLASS]: "true" } },
          provisioner: HOST_PATH_PROVISIONER,
          reclaimPolicy: "Delete",
          volumeBindingMode: "Immediate",
        });
      } catch (error) {
        if (!isApiError(error, "AlreadyExists"))
          log.warn("cannot create the default StorageClass", { error });
      }
    }
    await untilAborted(signal);
  },
};
