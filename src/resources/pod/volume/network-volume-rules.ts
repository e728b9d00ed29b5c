/** Validates volumes of storage systems. Most rules only require the fields that name the volume. */

import type { FieldErrors, FieldPath } from "../../../api/errors/field-error.ts";
import type {
  AzureDiskVolumeSource,
  CSIVolumeSource,
  FCVolumeSource,
  FlexVolumeSource,
  ISCSIVolumeSource,
  NFSVolumeSource,
  QuobyteVolumeSource,
  StorageOSVolumeSource,
} from "../../../api/generated/types/core-v1.ts";
import { dns1123Label, dns1123Subdomain } from "../../../api/values/names.ts";
import { checkChoice } from "../../rules/value-rules.ts";

const LUN_MAX = 255;
const ISCSI_NAMES = [
  /^iqn\.\d{4}-\d{2}\.([A-Za-z0-9.-]+)(:[^,;*&$|\s]+)$/,
  /^eui\.[A-Fa-f0-9]{16}$/,
  /^naa\.[A-Fa-f0-9]{32}$/,
];

/** Reports the named fields that are empty. */
export function checkFilled<T extends object>(
  source: T,
  names: readonly (keyof T & string)[],
  at: { readonly path: FieldPath; readonly errors: FieldErrors },
): void {
  for (const name of names) {
    const value: unknown = source[name];
    const isEmpty = value === undefined || value === "" || (Array.isArray(value) && value.length === 0);
    if (isEmpty) at.errors.required(at.path.child(name));
  }
}

export function checkNfs(nfs: NFSVolumeSource, path: FieldPath, errors: FieldErrors): void {
  checkFilled(nfs, ["server", "path"], { path, errors });
  if (!nfs.path.startsWith("/")) errors.invalid(path.child("path"), nfs.path, "must be an absolute path");
}

export function checkIscsi(iscsi: ISCSIVolumeSource, path: FieldPath, errors: FieldErrors): void {
  checkFilled(iscsi, ["targetPortal", "iqn"], { path, errors });
  if (iscsi.iqn !== "") checkIscsiName(iscsi.iqn, path.child("iqn"), errors);
  checkLun(iscsi.lun, path.child("lun"), errors);
  const needsSecret = iscsi.chapAuthDiscovery === true || iscsi.chapAuthSession === true;
  if (needsSecret && iscsi.secretRef === undefined) errors.required(path.child("secretRef"));
  if (iscsi.initiatorName !== undefined) {
    checkIscsiName(iscsi.initiatorName, path.child("initiatorname"), errors);
  }
}

function checkIscsiName(name: string, path: FieldPath, errors: FieldErrors): void {
  if (!/^(iqn|eui|naa)/.test(name)) {
    errors.invalid(path, name, "must be valid format starting with iqn, eui, or naa");
  } else if (!ISCSI_NAMES.some((pattern) => pattern.test(name))) {
    errors.invalid(path, name, "must be valid format");
  }
}

function checkLun(lun: number, path: FieldPath, errors: FieldErrors): void {
  if (lun < 0 || lun > LUN_MAX) errors.invalid(path, lun, `must be between 0 and ${LUN_MAX}, inclusive`);
}

export function checkFibreChannel(fc: FCVolumeSource, path: FieldPath, errors: FieldErrors): void {
  const { targetWWNs = [], wwids = [], lun } = fc;
  const at = path.child("targetWWNs");
  if (targetWWNs.length === 0 && wwids.length === 0) {
    errors.required(at, "must specify either targetWWNs or wwids, but not both");
  }
  if (targetWWNs.length > 0 && wwids.length > 0) {
    errors.invalid(at, targetWWNs, "targetWWNs and wwids can not be specified simultaneously");
  }
  if (targetWWNs.length === 0) return;
  if (lun === undefined) errors.required(path.child("lun"), "lun is required if targetWWNs is specified");
  else checkLun(lun, path.child("lun"), errors);
}

export function checkDisk(
  { partition = 0 }: { readonly partition?: number },
  path: FieldPath,
  errors: FieldErrors,
): void {
  if (partition >= 0 && partition <= LUN_MAX) return;
  errors.invalid(path.child("partition"), partition, "must be between 0 and 255, inclusive");
}

export function checkFlex(
  { driver, options = {} }: FlexVolumeSource,
  path: FieldPath,
  errors: FieldErrors,
): void {
  checkFilled({ driver }, ["driver"], { path, errors });
  for (const key of Object.keys(options)) {
    const [namespace = ""] = key.split("/");
    if (!/\.(kubernetes|k8s)\.io$/.test(`.${namespace.toLowerCase()}`)) continue;
    errors.invalid(path.child("options").key(key), key, "kubernetes.io and k8s.io namespaces are reserved");
  }
}

export function checkQuobyte(quobyte: QuobyteVolumeSource, path: FieldPath, errors: FieldErrors): void {
  const { registry, tenant = "", volume } = quobyte;
  const problem = "must be a host:port pair or multiple pairs separated by commas";
  if (registry === "") errors.required(path.child("registry"), problem);
  else if (tenant.length > 64) {
    errors.required(path.child("tenant"), "must be a UUID and may not exceed a length of 64 characters");
  } else if (registry.split(",").some((pair) => !/^(\[[^\]]*\]|[^:]*):[^:]*$/.test(pair))) {
    errors.invalid(path.child("registry"), registry, problem);
  }
  checkFilled({ volume }, ["volume"], { path, errors });
}

export function checkStorageOs(volume: StorageOSVolumeSource, path: FieldPath, errors: FieldErrors): void {
  const { volumeName = "", volumeNamespace, secretRef } = volume;
  if (volumeName === "") errors.required(path.child("volumeName"));
  else errors.invalidFor(path.child("volumeName"), volumeName, dns1123Label(volumeName));
  if (volumeNamespace !== undefined) {
    errors.invalidFor(path.child("volumeNamespace"), volumeNamespace, dns1123Label(volumeNamespace));
  }
  checkSecretName(secretRef, path.child("secretRef"), errors);
}

export function checkSecretName(
  secret: { readonly name?: string } | undefined,
  path: FieldPath,
  errors: FieldErrors,
): void {
  if (secret !== undefined && (secret.name ?? "") === "") errors.required(path.child("name"));
}

export function checkAzureDisk(disk: AzureDiskVolumeSource, path: FieldPath, errors: FieldErrors): void {
  checkFilled(disk, ["diskName", "diskURI"], { path, errors });
  const caching = ["None", "ReadOnly", "ReadWrite"];
  checkChoice({ path: path.child("cachingMode"), value: disk.cachingMode, among: caching }, errors);
  checkChoice(
    { path: path.child("kind"), value: disk.kind, among: ["Dedicated", "Managed", "Shared"] },
    errors,
  );
  if (disk.kind === undefined) return;
  const [start, form] =
    disk.kind === "Managed"
      ? [
          "/subscriptions/",
          "/subscriptions/{sub-id}/resourcegroups/{group-name}/providers/microsoft.compute/disks/{disk-id}",
        ]
      : ["https://", "https://{account-name}.blob.core.windows.net/{container-name}/{disk-name}.vhd"];
  if (!disk.diskURI.startsWith(start)) errors.notSupported(path.child("diskURI"), disk.diskURI, [form]);
}

export function checkCsi(
  { driver, nodePublishSecretRef }: CSIVolumeSource,
  path: FieldPath,
  errors: FieldErrors,
): void {
  if (driver === "") errors.required(path.child("driver"));
  if (driver.length > 63) errors.tooLong(path.child("driver"), 63);
  errors.invalidFor(path.child("driver"), driver, dns1123Subdomain(driver.toLowerCase()));
  if (nodePublishSecretRef === undefined) return;
  const { name = "" } = nodePublishSecretRef;
  if (name === "") errors.required(path.child("nodePublishSecretRef", "name"));
  else errors.invalidFor(path.child("name"), name, dns1123Subdomain(name));
}
