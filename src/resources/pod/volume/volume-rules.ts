/** Validates the volumes of a pod: each has a unique name and exactly one source. */

import type { FieldErrors, FieldPath } from "../../../api/errors/field-error.ts";
import type {
  ConfigMapVolumeSource,
  EmptyDirVolumeSource,
  EphemeralVolumeSource,
  FlockerVolumeSource,
  GitRepoVolumeSource,
  HostPathVolumeSource,
  ImageVolumeSource,
  Volume,
} from "../../../api/generated/types/core-v1.ts";
import { validateLabels } from "../../../api/selectors/label-selector.ts";
import { quoted } from "../../../api/values/message-text.ts";
import { dns1123Label, dns1123Subdomain } from "../../../api/values/names.ts";
import { parseQuantity } from "../../../api/values/quantity.ts";
import { addNew, checkChoice, checkRequiredChoice } from "../../rules/value-rules.ts";
import { PULL_POLICIES } from "../container/container-rules.ts";
import { checkDescendingPath, checkNoBacksteps } from "../local-path.ts";
import type { PodScope } from "../pod-scope.ts";
import { checkClaimSpec } from "./claim-rules.ts";
import { checkDownwardFile, checkKeyToPath, checkMode } from "./file-rules.ts";
import {
  checkAzureDisk,
  checkCsi,
  checkDisk,
  checkFibreChannel,
  checkFilled,
  checkFlex,
  checkIscsi,
  checkNfs,
  checkQuobyte,
  checkSecretName,
  checkStorageOs,
} from "./network-volume-rules.ts";
import { checkProjected } from "./projected-rules.ts";

const HOST_PATH_TYPES = [
  "",
  "BlockDevice",
  "CharDevice",
  "Directory",
  "DirectoryOrCreate",
  "File",
  "FileOrCreate",
  "Socket",
];

type SourceType = Exclude<keyof Volume, "name">;
type SourceCheck<T> = (source: NonNullable<T>, path: FieldPath, errors: FieldErrors) => void;
type SourceChecks = { readonly [Type in SourceType]: SourceCheck<Volume[Type]> };

/** Upstream's order: the first source of a volume is checked, and further sources are refused. */
const SOURCES: SourceChecks = {
  emptyDir: checkEmptyDir,
  hostPath: checkHostPath,
  gitRepo: checkGitRepo,
  gcePersistentDisk: (disk, path, errors) => {
    checkFilled(disk, ["pdName"], { path, errors });
    checkDisk(disk, path, errors);
  },
  awsElasticBlockStore: (disk, path, errors) => {
    checkFilled(disk, ["volumeID"], { path, errors });
    checkDisk(disk, path, errors);
  },
  secret: ({ secretName = "", defaultMode, items = [] }, path, errors) => {
    checkFilled({ secretName }, ["secretName"], { path, errors });
    checkFiles({ defaultMode, items }, path, errors);
  },
  nfs: checkNfs,
  iscsi: checkIscsi,
  glusterfs: (volume, path, errors) => checkFilled(volume, ["endpoints", "path"], { path, errors }),
  flocker: checkFlocker,
  persistentVolumeClaim: (claim, path, errors) => checkFilled(claim, ["claimName"], { path, errors }),
  rbd: (rbd, path, errors) => checkFilled(rbd, ["monitors", "image"], { path, errors }),
  cinder: (cinder, path, errors) => {
    checkFilled(cinder, ["volumeID"], { path, errors });
    checkSecretName(cinder.secretRef, path.child("secretRef"), errors);
  },
  cephfs: (cephfs, path, errors) => checkFilled(cephfs, ["monitors"], { path, errors }),
  quobyte: checkQuobyte,
  downwardAPI: ({ defaultMode, items = [] }, path, errors) => {
    checkMode(defaultMode, path.child("defaultMode"), errors);
    for (const file of items) checkDownwardFile(file, path, errors);
  },
  fc: checkFibreChannel,
  flexVolume: checkFlex,
  configMap: ({ name = "", defaultMode, items = [] }, path, errors) => {
    checkFilled({ name }, ["name"], { path, errors });
    checkFiles({ defaultMode, items }, path, errors);
  },
  azureFile: (file, path, errors) => checkFilled(file, ["secretName", "shareName"], { path, errors }),
  vsphereVolume: (volume, path, errors) => checkFilled(volume, ["volumePath"], { path, errors }),
  photonPersistentDisk: (disk, path, errors) => checkFilled(disk, ["pdID"], { path, errors }),
  portworxVolume: (volume, path, errors) => checkFilled(volume, ["volumeID"], { path, errors }),
  azureDisk: checkAzureDisk,
  storageos: checkStorageOs,
  projected: checkProjected,
  scaleIO: (volume, path, errors) =>
    checkFilled(volume, ["gateway", "system", "volumeName"], { path, errors }),
  csi: checkCsi,
  ephemeral: checkEphemeral,
  image: checkImageVolume,
};

export function checkVolumes(volumes: readonly Volume[], path: FieldPath, scope: PodScope): void {
  const names = new Set<string>();
  for (const [i, volume] of volumes.entries()) {
    const at = path.index(i);
    checkSources(volume, at, scope);
    const name = at.child("name");
    if (volume.name === "") scope.errors.required(name);
    else scope.errors.invalidFor(name, volume.name, dns1123Label(volume.name));
    if (volume.name !== "" && !addNew(names, volume.name)) scope.errors.duplicate(name, volume.name);
  }
}

function checkSources(volume: Volume, path: FieldPath, scope: PodScope): void {
  const { errors } = scope;
  const types = sourceTypes().filter((type) => volume[type] !== undefined);
  const [first, ...others] = types;
  if (first === undefined) return errors.required(path, "must specify a volume type");
  checkSource(first, { volume, path }, errors);
  for (const type of others) errors.forbidden(path.child(type), "may not specify more than 1 volume type");
  if (first === "ephemeral") checkEphemeralName(volume, path, scope);
  if (first === "image" && scope.subject === "pod" && (volume.image?.reference ?? "") === "") {
    errors.required(path.child("image", "reference"));
  }
}

function sourceTypes(): readonly SourceType[] {
  return Object.keys(SOURCES).filter((type): type is SourceType => type in SOURCES);
}

function checkSource<Type extends SourceType>(
  type: Type,
  place: { readonly volume: Volume; readonly path: FieldPath },
  errors: FieldErrors,
): void {
  const source = place.volume[type];
  if (source !== undefined && source !== null) SOURCES[type](source, place.path.child(type), errors);
}

/** The claim of an ephemeral volume is named `<pod>-<volume>`. */
function checkEphemeralName({ name }: Volume, path: FieldPath, { errors, podName }: PodScope): void {
  if (podName === undefined || name === "") return;
  const claim = `${podName}-${name}`;
  for (const problem of dns1123Subdomain(claim)) {
    errors.invalid(path.child("name"), name, `PVC name ${quoted(claim)}: ${problem}`);
  }
}

function checkEmptyDir({ sizeLimit }: EmptyDirVolumeSource, path: FieldPath, errors: FieldErrors): void {
  if (sizeLimit === undefined || parseQuantity(sizeLimit).nano >= 0n) return;
  errors.forbidden(path.child("sizeLimit"), "SizeLimit field must be a valid resource quantity");
}

function checkHostPath(
  { path: target, type }: HostPathVolumeSource,
  path: FieldPath,
  errors: FieldErrors,
): void {
  if (target === "") return errors.required(path.child("path"));
  checkNoBacksteps(target, path.child("path"), errors);
  checkChoice({ path: path.child("type"), value: type, among: HOST_PATH_TYPES }, errors);
}

function checkGitRepo(repository: GitRepoVolumeSource, path: FieldPath, errors: FieldErrors): void {
  checkFilled(repository, ["repository"], { path, errors });
  checkDescendingPath(repository.directory ?? "", path.child("directory"), errors);
}

function checkFlocker(flocker: FlockerVolumeSource, path: FieldPath, errors: FieldErrors): void {
  const { datasetName = "", datasetUUID = "" } = flocker;
  if (datasetName === "" && datasetUUID === "") {
    errors.required(path, "one of datasetName and datasetUUID is required");
  }
  if (datasetName !== "" && datasetUUID !== "") {
    errors.invalid(path, "resource", "datasetName and datasetUUID can not be specified simultaneously");
  }
  if (datasetName.includes("/")) {
    errors.invalid(path.child("datasetName"), datasetName, "must not contain '/'");
  }
}

function checkFiles(
  {
    defaultMode,
    items,
  }: {
    readonly defaultMode: number | undefined;
    readonly items: NonNullable<ConfigMapVolumeSource["items"]>;
  },
  path: FieldPath,
  errors: FieldErrors,
): void {
  checkMode(defaultMode, path.child("defaultMode"), errors);
  for (const [i, item] of items.entries()) checkKeyToPath(item, path.child("items").index(i), errors);
}

function checkEphemeral(
  { volumeClaimTemplate }: EphemeralVolumeSource,
  path: FieldPath,
  errors: FieldErrors,
): void {
  const at = path.child("volumeClaimTemplate");
  if (volumeClaimTemplate === undefined) return errors.required(at);
  const { metadata, spec } = volumeClaimTemplate;
  validateLabels(metadata.labels ?? {}, at.child("metadata", "labels"), errors);
  checkClaimSpec(spec, at.child("spec"), errors);
}

function checkImageVolume({ pullPolicy }: ImageVolumeSource, path: FieldPath, errors: FieldErrors): void {
  checkRequiredChoice({ path: path.child("pullPolicy"), value: pullPolicy, among: PULL_POLICIES }, errors);
}
