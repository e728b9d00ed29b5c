/**
 * Deletes the folder of a provisioned volume when its PersistentVolume is deleted under the policy Delete. Folders of
 * retained volumes stay, and those of volumes deleted while the agent was away.
 */
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { PersistentVolume } from "../../api/generated/types/core-v1.ts";
import type { RoutineParts } from "../../runtime/manager/routine.ts";

/** `folder` is the provisioner's. Returns the function that ends the subscription. */
export function followProvisionedFolders(
  { loop, log, subscribe }: Pick<RoutineParts, "loop" | "log" | "subscribe">,
  folder: string,
): () => void {
  return subscribe(PersistentVolume, ({ before, after }) => {
    const isGone = before !== undefined && before.metadata.uid !== after?.metadata.uid;
    if (!isGone || !isDisposable(before, folder)) return;
    const { name } = before.metadata;
    loop
      .outside("volumes", rm(join(folder, name), { recursive: true, force: true }))
      .catch((error: unknown) => {
        log.warn("cannot delete the folder of a deleted volume", { name, folder, error });
      });
  });
}

function isDisposable({ metadata, spec }: PersistentVolume, folder: string): boolean {
  const isOwn = spec.hostPath?.path === join(folder, metadata.name);
  return isOwn && spec.persistentVolumeReclaimPolicy === "Delete";
}
