/** Validates volume mounts and block devices of a container. */

import type { FieldPath } from "../../../api/errors/field-error.ts";
import type { Container, Volume, VolumeDevice, VolumeMount } from "../../../api/generated/types/core-v1.ts";
import { addNew, checkChoice } from "../../rules/value-rules.ts";
import { checkDescendingPath } from "../local-path.ts";
import type { PodScope } from "../pod-scope.ts";

const PROPAGATIONS = ["Bidirectional", "HostToContainer", "None"];
const RECURSIVE_READ_ONLY = ["Disabled", "Enabled", "IfPossible"];

interface MountPlace {
  readonly path: FieldPath;
  readonly list: FieldPath;
}

type MountingContainer = Pick<Container, "volumeMounts" | "volumeDevices" | "securityContext">;

export function checkMounts(container: MountingContainer, path: FieldPath, scope: PodScope): void {
  const { volumeMounts = [], volumeDevices = [] } = container;
  const list = path.child("volumeMounts");
  const mountPaths = new Set<string>();
  const devices = usedPlaces(volumeDevices, ({ devicePath }) => devicePath);
  for (const [i, mount] of volumeMounts.entries()) {
    const at = list.index(i);
    checkMountTarget(mount, at, scope);
    if (!addNew(mountPaths, mount.mountPath)) {
      scope.errors.invalid(at.child("mountPath"), mount.mountPath, "must be unique");
    }
    checkMountBesideDevices(mount, { path: at, devices }, scope);
    checkSubPaths(mount, { path: at, list }, scope);
    checkPropagation(mount, { path: list, container }, scope);
    checkRecursiveReadOnly(mount, list.child("recursiveReadOnly"), scope);
  }
}

/** Names and paths that are taken in a container. */
interface UsedPlaces {
  readonly names: ReadonlySet<string>;
  readonly paths: ReadonlySet<string>;
}

const NOWHERE: UsedPlaces = { names: new Set(), paths: new Set() };

function usedPlaces<T extends { readonly name: string }>(
  users: readonly T[],
  pathOf: (user: T) => string,
): UsedPlaces {
  if (users.length === 0) return NOWHERE;
  return { names: new Set(users.map(({ name }) => name)), paths: new Set(users.map(pathOf)) };
}

function checkMountTarget(
  { name, mountPath }: VolumeMount,
  path: FieldPath,
  { errors, volumes }: PodScope,
): void {
  if (name === "") errors.required(path.child("name"));
  if (!volumes.has(name)) errors.notFound(path.child("name"), name);
  if (mountPath === "") errors.required(path.child("mountPath"));
}

function checkMountBesideDevices(
  { name, mountPath }: VolumeMount,
  place: { readonly path: FieldPath; readonly devices: UsedPlaces },
  { errors }: PodScope,
): void {
  const { path, devices } = place;
  if (devices.names.has(name)) {
    errors.invalid(path.child("name"), name, "must not already exist in volumeDevices");
  }
  if (devices.paths.has(mountPath)) {
    errors.invalid(path.child("mountPath"), mountPath, "must not already exist as a path in volumeDevices");
  }
}

function checkSubPaths(mount: VolumeMount, place: MountPlace, { errors, volumes }: PodScope): void {
  const { subPath = "", subPathExpr = "" } = mount;
  const { path, list } = place;
  if (subPathExpr !== "" && volumes.get(mount.name)?.image !== undefined) {
    errors.invalid(path.child("subPathExpr"), subPathExpr, "not allowed in image volume sources");
  }
  // Upstream reports an invalid path at the path of the list, without an index.
  if (subPath !== "") checkDescendingPath(subPath, list.child("subPath"), errors);
  if (subPathExpr === "") return;
  if (subPath !== "") {
    errors.invalid(path.child("subPathExpr"), subPathExpr, "subPathExpr and subPath are mutually exclusive");
  }
  checkDescendingPath(subPathExpr, list.child("subPathExpr"), errors);
}

function checkPropagation(
  { mountPropagation }: VolumeMount,
  place: { readonly path: FieldPath; readonly container: MountingContainer },
  { errors }: PodScope,
): void {
  const path = place.path.child("mountPropagation");
  checkChoice({ path, value: mountPropagation, among: PROPAGATIONS }, errors);
  if (mountPropagation !== "Bidirectional" || place.container.securityContext?.privileged === true) return;
  errors.forbidden(path, "Bidirectional mount propagation is available only to privileged containers");
}

function checkRecursiveReadOnly(mount: VolumeMount, path: FieldPath, { errors }: PodScope): void {
  const { recursiveReadOnly, readOnly = false, mountPropagation = "None" } = mount;
  checkChoice({ path, value: recursiveReadOnly, among: RECURSIVE_READ_ONLY }, errors);
  if (recursiveReadOnly !== "Enabled" && recursiveReadOnly !== "IfPossible") return;
  if (!readOnly) errors.forbidden(path, "may only be specified when readOnly is true");
  if (mountPropagation !== "None") {
    errors.forbidden(path, "may only be specified when mountPropagation is None or not specified");
  }
}

export function checkDevices(container: MountingContainer, path: FieldPath, scope: PodScope): void {
  const { volumeMounts = [], volumeDevices = [] } = container;
  if (volumeDevices.length === 0) return;
  const names = new Set<string>();
  const paths = new Set<string>();
  const mounts = usedPlaces(volumeMounts, ({ mountPath }) => mountPath);
  for (const [i, device] of volumeDevices.entries()) {
    const at = path.child("volumeDevices").index(i);
    checkDeviceTarget(device, at, scope);
    if (device.name !== "" && !addNew(names, device.name)) {
      scope.errors.invalid(at.child("name"), device.name, "must be unique");
    }
    checkDevicePath(device, at, scope);
    if (!addNew(paths, device.devicePath)) {
      scope.errors.invalid(at.child("devicePath"), device.devicePath, "must be unique");
    }
    checkDeviceBesideMounts(device, { path: at, mounts }, scope);
  }
}

function checkDeviceTarget({ name }: VolumeDevice, path: FieldPath, { errors, volumes }: PodScope): void {
  if (name === "") errors.required(path.child("name"));
  const volume = volumes.get(name);
  if (volume === undefined) errors.notFound(path.child("name"), name);
  else if (!isClaimed(volume)) {
    const problem = "can only use volume source type of PersistentVolumeClaim or Ephemeral for block mode";
    errors.invalid(path.child("name"), name, problem);
  }
}

function isClaimed({ persistentVolumeClaim, ephemeral }: Volume): boolean {
  return persistentVolumeClaim !== undefined || ephemeral !== undefined;
}

function checkDevicePath({ devicePath }: VolumeDevice, path: FieldPath, { errors }: PodScope): void {
  if (devicePath === "") errors.required(path.child("devicePath"));
  if (devicePath.split("/").includes("..")) {
    errors.invalid(path.child("devicePath"), devicePath, "can not contain backsteps ('..')");
  }
}

function checkDeviceBesideMounts(
  { name, devicePath }: VolumeDevice,
  place: { readonly path: FieldPath; readonly mounts: UsedPlaces },
  { errors }: PodScope,
): void {
  const { path, mounts } = place;
  if (mounts.names.has(name)) {
    errors.invalid(path.child("name"), name, "must not already exist in volumeMounts");
  }
  if (mounts.paths.has(devicePath)) {
    errors.invalid(path.child("devicePath"), devicePath, "must not already exist as a path in volumeMounts");
  }
}
