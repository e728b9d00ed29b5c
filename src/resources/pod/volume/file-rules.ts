/** Validates file modes, keys projected to paths, and downward API files. */

import type { FieldErrors, FieldPath } from "../../../api/errors/field-error.ts";
import type { DownwardAPIVolumeFile, KeyToPath } from "../../../api/generated/types/core-v1.ts";
import { checkFieldReference, checkResourceReference } from "../container/field-reference.ts";
import { checkLocalPath } from "../local-path.ts";

const MODE_MAX = 0o777;
const MODE_PROBLEM = "must be a number between 0 and 0777 (octal), both inclusive";

const VOLUME_FIELDS = [
  "metadata.annotations",
  "metadata.labels",
  "metadata.name",
  "metadata.namespace",
  "metadata.uid",
];

export function checkMode(mode: number | undefined, path: FieldPath, errors: FieldErrors): void {
  if (mode !== undefined && (mode < 0 || mode > MODE_MAX)) errors.invalid(path, mode, MODE_PROBLEM);
}

export function checkKeyToPath(
  { key, path: file, mode }: KeyToPath,
  path: FieldPath,
  errors: FieldErrors,
): void {
  if (key === "") errors.required(path.child("key"));
  if (file === "") errors.required(path.child("path"));
  checkLocalPath(file, path.child("path"), errors);
  checkMode(mode, path.child("mode"), errors);
}

export function checkDownwardFile(file: DownwardAPIVolumeFile, path: FieldPath, errors: FieldErrors): void {
  if (file.path === "") errors.required(path.child("path"));
  checkLocalPath(file.path, path.child("path"), errors);
  const { fieldRef, resourceFieldRef } = file;
  if (fieldRef !== undefined) {
    checkFieldReference(fieldRef, { path: path.child("fieldRef"), fields: VOLUME_FIELDS }, errors);
    if (resourceFieldRef !== undefined) {
      errors.invalid(path, "resource", "fieldRef and resourceFieldRef can not be specified simultaneously");
    }
  } else if (resourceFieldRef !== undefined) {
    const place = { path: path.child("resourceFieldRef"), user: "volume" } as const;
    checkResourceReference(resourceFieldRef, place, errors);
  } else {
    errors.required(path, "one of fieldRef and resourceFieldRef is required");
  }
  checkMode(file.mode, path.child("mode"), errors);
}
