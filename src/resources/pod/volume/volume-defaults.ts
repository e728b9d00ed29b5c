/** Defaults of a volume's sources. */

import type {
  AzureDiskVolumeSource,
  DownwardAPIVolumeFile,
  RBDVolumeSource,
  ScaleIOVolumeSource,
  Volume,
  VolumeProjection,
} from "../../../api/generated/types/core-v1.ts";
import type { Draft } from "../../rules/kind-rules.ts";
import { defaultPullPolicy } from "../container/pull-policy.ts";

/** Mode 0644: all users may read the files, and the owner may write them. */
const FILE_MODE = 0o644;
const TOKEN_SECONDS = 3600;

export function volumeDefaults(volume: Draft<Volume>): void {
  const hasSource = Object.keys(volume).some((key) => key !== "name");
  if (!hasSource) volume.emptyDir = {};
  fileVolumeDefaults(volume);
  localVolumeDefaults(volume);
  if (volume.iscsi !== undefined) volume.iscsi.iscsiInterface ??= "default";
  if (volume.rbd !== undefined) rbdDefaults(volume.rbd);
  if (volume.azureDisk !== undefined) azureDiskDefaults(volume.azureDisk);
  if (volume.scaleIO !== undefined) scaleIoDefaults(volume.scaleIO);
}

function localVolumeDefaults({ hostPath, image, ephemeral }: Draft<Volume>): void {
  if (hostPath !== undefined) hostPath.type ??= "";
  if (image !== undefined) image.pullPolicy ??= defaultPullPolicy(image.reference ?? "");
  const claim = ephemeral?.volumeClaimTemplate;
  if (claim !== undefined) claim.spec.volumeMode ??= "Filesystem";
}

function fileVolumeDefaults({ secret, configMap, downwardAPI, projected }: Draft<Volume>): void {
  if (secret !== undefined) secret.defaultMode ??= FILE_MODE;
  if (configMap !== undefined) configMap.defaultMode ??= FILE_MODE;
  if (downwardAPI !== undefined) downwardAPI.defaultMode ??= FILE_MODE;
  downwardFileDefaults(downwardAPI?.items);
  if (projected === undefined) return;
  projected.defaultMode ??= FILE_MODE;
  for (const source of projected.sources) projectionDefaults(source);
}

function projectionDefaults({ downwardAPI, serviceAccountToken }: Draft<VolumeProjection>): void {
  downwardFileDefaults(downwardAPI?.items);
  if (serviceAccountToken !== undefined) serviceAccountToken.expirationSeconds ??= TOKEN_SECONDS;
}

function downwardFileDefaults(files: Draft<DownwardAPIVolumeFile>[] | undefined): void {
  for (const { fieldRef } of files ?? []) {
    if (fieldRef !== undefined) fieldRef.apiVersion ??= "v1";
  }
}

function rbdDefaults(rbd: Draft<RBDVolumeSource>): void {
  rbd.pool ??= "rbd";
  rbd.user ??= "admin";
  rbd.keyring ??= "/etc/ceph/keyring";
}

function azureDiskDefaults(disk: Draft<AzureDiskVolumeSource>): void {
  disk.cachingMode ??= "ReadWrite";
  disk.kind ??= "Shared";
  disk.fsType ??= "ext4";
  disk.readOnly ??= false;
}

function scaleIoDefaults(volume: Draft<ScaleIOVolumeSource>): void {
  volume.storageMode ??= "ThinProvisioned";
  volume.fsType ??= "xfs";
}
