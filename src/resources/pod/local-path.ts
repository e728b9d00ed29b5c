/** Validates paths of files in a volume: relative, and inside the volume. */

import type { FieldErrors, FieldPath } from "../../api/errors/field-error.ts";

export function checkNoBacksteps(target: string, path: FieldPath, errors: FieldErrors): void {
  if (target.split("/").includes("..")) errors.invalid(path, target, "must not contain '..'");
}

export function checkDescendingPath(target: string, path: FieldPath, errors: FieldErrors): void {
  if (target.startsWith("/")) errors.invalid(path, target, "must be a relative path");
  checkNoBacksteps(target, path, errors);
}

/** Names that begin with two dots are reserved for links that the agent makes in the volume. */
export function checkLocalPath(target: string, path: FieldPath, errors: FieldErrors): void {
  checkDescendingPath(target, path, errors);
  if (target.startsWith("..") && !target.startsWith("../")) {
    errors.invalid(path, target, "must not start with '..'");
  }
}
