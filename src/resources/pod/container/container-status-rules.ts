/** Validates the container statuses that agents report. */

import type { FieldErrors, FieldPath } from "../../../api/errors/field-error.ts";
import type {
  Container,
  ContainerStatus,
  LinuxContainerUser,
  Pod,
  ResourceHealth,
  ResourceStatus,
  VolumeMountStatus,
} from "../../../api/generated/types/core-v1.ts";
import { addNew, checkChoice, checkUserId, ownValue } from "../../rules/value-rules.ts";

/** Each status list with its list of containers. Ephemeral containers have no resources and never restart. */
export const STATUS_LISTS = [
  ["containerStatuses", "containers"],
  ["initContainerStatuses", "initContainers"],
  ["ephemeralContainerStatuses", undefined],
] as const;

const HEALTH = ["Healthy", "Unhealthy", "Unknown"];
const IMAGE_REF_MAX = 256;

export function checkContainerStatuses({ spec, status }: Pod, path: FieldPath, errors: FieldErrors): void {
  const os = spec.os?.name ?? "linux";
  for (const [list, containers] of STATUS_LISTS) {
    for (const [i, shown] of (status[list] ?? []).entries()) {
      // Skips the usual status, which has none of the checked fields: agents write statuses often.
      if (!hasCheckedFields(shown)) continue;
      const place = { path: path.child(list).index(i), errors };
      if (shown.user?.linux !== undefined) checkUser(shown.user.linux, os, place);
      checkMounts(shown.volumeMounts ?? [], place);
      if (containers === undefined) refuseAllocated(shown, place);
      else checkAllocated(shown, spec[containers] ?? [], place);
    }
  }
}

function hasCheckedFields({ user, volumeMounts, allocatedResourcesStatus }: ContainerStatus): boolean {
  return user !== undefined || volumeMounts !== undefined || allocatedResourcesStatus !== undefined;
}

interface Place {
  readonly path: FieldPath;
  readonly errors: FieldErrors;
}

function checkMounts(mounts: readonly VolumeMountStatus[], { path, errors }: Place): void {
  for (const [i, { volumeStatus }] of mounts.entries()) {
    if (volumeStatus?.image === undefined) continue;
    const at = path.child("volumeMounts").index(i).child("volumeStatus", "imageVolumeStatus", "imageRef");
    checkImageRef(volumeStatus.image.imageRef ?? "", at, errors);
  }
}

function checkUser(user: LinuxContainerUser, os: string, { path: status, errors }: Place): void {
  const path = status.child("user", "linux");
  if (os === "windows") errors.forbidden(path, "cannot be set for a windows pod");
  if (os !== "linux") return;
  const { uid, gid, supplementalGroups = [] } = user;
  checkUserId(uid, path.child("uid"), errors);
  checkUserId(gid, path.child("gid"), errors);
  for (const [i, group] of supplementalGroups.entries())
    checkUserId(group, path.child("supplementalGroups").index(i), errors);
}

function checkImageRef(imageRef: string, path: FieldPath, errors: FieldErrors): void {
  if (imageRef === "") errors.required(path, "imageRef must not be empty");
  if (Buffer.byteLength(imageRef) > IMAGE_REF_MAX) errors.tooLong(path, IMAGE_REF_MAX);
}

function refuseAllocated({ allocatedResourcesStatus = [] }: ContainerStatus, { path, errors }: Place): void {
  if (allocatedResourcesStatus.length === 0) return;
  errors.forbidden(path.child("allocatedResourcesStatus"), "must not be specified in container status");
}

/** Accepts a status of a container that the spec lacks, as upstream does. */
function checkAllocated(
  { name, allocatedResourcesStatus = [] }: ContainerStatus,
  containers: readonly Container[],
  { path, errors }: Place,
): void {
  if (allocatedResourcesStatus.length === 0) return;
  const container = containers.find((each) => each.name === name);
  const claims = claimTexts(container);
  for (const [i, resource] of allocatedResourcesStatus.entries()) {
    const at = path.child("allocatedResourcesStatus").index(i);
    if (container !== undefined)
      checkAskedFor(resource, { container, claims }, { path: at.child("name"), errors });
    checkHealth(resource.resources ?? [], at.child("resources"), errors);
  }
}

interface Asker {
  readonly container: Container;
  /** As statuses name them. */
  readonly claims: ReadonlySet<string>;
}

function claimTexts(container: Container | undefined): ReadonlySet<string> {
  const claims = container?.resources.claims ?? [];
  return new Set(
    claims.map(({ name, request = "" }) => (request === "" ? `claim:${name}` : `claim:${name}/${request}`)),
  );
}

/** A resource of a container is one that it asked for, by name or by claim. */
function checkAskedFor(
  { name }: ResourceStatus,
  { container, claims }: Asker,
  { path, errors }: Place,
): void {
  if (!name.startsWith("claim:")) {
    if (ownValue(container.resources.requests, name) === undefined)
      errors.invalid(path, name, "must match one of the container's resource requests");
    return;
  }
  const why =
    "must match one of the container's resource claims in a format 'claim:<claimName>/<request>' or 'claim:<claimName>' if request is empty";
  if (!claims.has(name)) errors.invalid(path, name, why);
}

function checkHealth(resources: readonly ResourceHealth[], path: FieldPath, errors: FieldErrors): void {
  const seen = new Set<string>();
  for (const [i, { health = "", resourceID }] of resources.entries()) {
    checkChoice({ path: path.index(i).child("health"), value: health, among: HEALTH }, errors);
    if (!addNew(seen, resourceID)) errors.duplicate(path.index(i).child("resourceID"), resourceID);
  }
}
