/** Paths of files that are put into a volume: relative, and never out of it. */

import type { FieldErrors, FieldPath } from "../../api/errors/field-error.ts";

export function checkNoBacksteps(target: string, path: FieldPath, errors: FieldErrors): void {
  if (target.split("/").includes("..")) errors.invalid(path, target, "must not contain '..'");
}

export function checkDescendingPath(target: string, path: FieldPath, errors: FieldErrors): void {
  if (target.startsWith("/")) errors.invalid(path, target, "must be a relative path");
  checkNoBacksteps(target, path, errors);
}

/** Names that begin with two dots are kept for the volume's own links. */
export function checkLocalPath(target: string, path: FieldPath, errors: FieldErrors): void {
  checkDescendingPath(target, path, errors);
  if (target.startsWith("..") && !target.startsWith("../")) {
    errors.invalid(path, target, "must not start with '..'");
  }
}
