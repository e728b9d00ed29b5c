/** Validates the sources of PersistentVolumes. Sources that pods can also use share their rules with pods. */

import type { FieldErrors, FieldPath } from "../../api/errors/field-error.ts";
import type {
  CSIPersistentVolumeSource,
  FlockerVolumeSource,
  HostPathVolumeSource,
  PersistentVolumeSpec,
  SecretReference,
} from "../../api/generated/types/core-v1.ts";
import { checkNoBacksteps } from "../pod/local-path.ts";
import {
  checkAzureDisk,
  checkDisk,
  checkFibreChannel,
  checkFilled,
  checkNfs,
  checkQuobyte,
} from "../pod/volume/network-volume-rules.ts";
import { checkChoice } from "../rules/value-rules.ts";
import { checkDriverName } from "./csi-driver-name.ts";

type SourceRules = {
  readonly [Name in SourceName]: (
    source: NonNullable<PersistentVolumeSpec[Name]>,
    path: FieldPath,
    errors: FieldErrors,
  ) => void;
};

/** Upstream's order: the first source is checked, and the others are refused. */
const SOURCE_NAMES = [
  "hostPath",
  "gcePersistentDisk",
  "awsElasticBlockStore",
  "glusterfs",
  "flocker",
  "nfs",
  "rbd",
  "quobyte",
  "cephfs",
  "iscsi",
  "cinder",
  "fc",
  "flexVolume",
  "azureFile",
  "vsphereVolume",
  "photonPersistentDisk",
  "portworxVolume",
  "azureDisk",
  "scaleIO",
  "local",
  "storageos",
  "csi",
] as const satisfies readonly (keyof PersistentVolumeSpec)[];

export type SourceName = (typeof SOURCE_NAMES)[number];

const RULES: SourceRules = {
  hostPath: checkHostPath,
  gcePersistentDisk: (it, path, errors) => {
    checkFilled(it, ["pdName"], { path, errors });
    checkDisk(it, path, errors);
  },
  awsElasticBlockStore: (it, path, errors) => {
    checkFilled(it, ["volumeID"], { path, errors });
    checkDisk(it, path, errors);
  },
  glusterfs: (it, path, errors) => checkFilled(it, ["endpoints", "path"], { path, errors }),
  flocker: checkFlocker,
  nfs: checkNfs,
  rbd: (it, path, errors) => checkFilled(it, ["monitors", "image"], { path, errors }),
  quobyte: checkQuobyte,
  cephfs: (it, path, errors) => checkFilled(it, ["monitors"], { path, errors }),
  iscsi: (it, path, errors) => checkFilled(it, ["targetPortal", "iqn"], { path, errors }),
  cinder: (it, path, errors) => {
    checkFilled(it, ["volumeID"], { path, errors });
    checkSecretReference(it.secretRef, path.child("secretRef"), errors);
  },
  fc: checkFibreChannel,
  flexVolume: (it, path, errors) => checkFilled(it, ["driver"], { path, errors }),
  azureFile: (it, path, errors) => checkFilled(it, ["secretName", "shareName"], { path, errors }),
  vsphereVolume: (it, path, errors) => checkFilled(it, ["volumePath"], { path, errors }),
  photonPersistentDisk: (it, path, errors) => checkFilled(it, ["pdID"], { path, errors }),
  portworxVolume: (it, path, errors) => checkFilled(it, ["volumeID"], { path, errors }),
  azureDisk: checkAzureDisk,
  scaleIO: (it, path, errors) => checkFilled(it, ["gateway", "system", "volumeName"], { path, errors }),
  local: (it, path, errors) => {
    if (it.path === "") errors.required(path.child("path"));
    else checkNoBacksteps(it.path, path.child("path"), errors);
  },
  storageos: (it, path, errors) => checkFilled(it, ["volumeName"], { path, errors }),
  csi: checkCsi,
};

/** Requires exactly one valid source. */
export function checkVolumeSource(spec: PersistentVolumeSpec, path: FieldPath, errors: FieldErrors): void {
  const [first, ...others] = SOURCE_NAMES.filter((name) => spec[name] !== undefined);
  if (first === undefined) {
    errors.required(path, "must specify a volume type");
    return;
  }
  checkOne(spec, first, { path: path.child(first), errors });
  for (const name of others) errors.forbidden(path.child(name), "may not specify more than 1 volume type");
}

/** The part of the spec that identifies the storage. */
export function volumeSource(spec: PersistentVolumeSpec): Partial<PersistentVolumeSpec> {
  const names: readonly string[] = SOURCE_NAMES;
  return Object.fromEntries(Object.entries(spec).filter(([name]) => names.includes(name)));
}

function checkOne<Name extends SourceName>(
  spec: PersistentVolumeSpec,
  name: Name,
  { path, errors }: { readonly path: FieldPath; readonly errors: FieldErrors },
): void {
  const source = spec[name];
  // The table's types pair each rule with its source. The compiler cannot follow that for a dynamic name.
  const rule = RULES[name] as (source: unknown, path: FieldPath, errors: FieldErrors) => void;
  rule(source, path, errors);
}

function checkHostPath(
  { path: target, type }: HostPathVolumeSource,
  path: FieldPath,
  errors: FieldErrors,
): void {
  if (target === "") errors.required(path.child("path"));
  else checkNoBacksteps(target, path.child("path"), errors);
  const among = [
    "",
    "BlockDevice",
    "CharDevice",
    "Directory",
    "DirectoryOrCreate",
    "File",
    "FileOrCreate",
    "Socket",
  ];
  checkChoice({ path: path.child("type"), value: type, among }, errors);
}

function checkFlocker(
  { datasetName = "", datasetUUID = "" }: FlockerVolumeSource,
  path: FieldPath,
  errors: FieldErrors,
): void {
  if (datasetName === "" && datasetUUID === "") {
    errors.required(path, "one of datasetName and datasetUUID is required");
  }
  if (datasetName !== "" && datasetUUID !== "") {
    errors.invalid(path, "resource", "datasetName and datasetUUID can not be specified simultaneously");
  }
  if (datasetName.includes("/"))
    errors.invalid(path.child("datasetName"), datasetName, "must not contain '/'");
}

const CSI_SECRETS = [
  "controllerPublishSecretRef",
  "controllerExpandSecretRef",
  "nodePublishSecretRef",
  "nodeExpandSecretRef",
] as const satisfies readonly (keyof CSIPersistentVolumeSource)[];

function checkCsi(csi: CSIPersistentVolumeSource, path: FieldPath, errors: FieldErrors): void {
  checkDriverName(csi.driver, path.child("driver"), errors);
  if (csi.volumeHandle === "") errors.required(path.child("volumeHandle"));
  for (const name of CSI_SECRETS) checkSecretReference(csi[name], path.child(name), errors);
}

function checkSecretReference(
  secret: SecretReference | undefined,
  path: FieldPath,
  errors: FieldErrors,
): void {
  if (secret !== undefined) checkFilled(secret, ["name", "namespace"], { path, errors });
}
