/** Validates access modes and abbreviates them for tables. */

import type { FieldErrors, FieldPath } from "../../api/errors/field-error.ts";

const MODES = ["ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod"];
const SHORT: readonly (readonly [mode: string, text: string])[] = [
  ["ReadWriteOnce", "RWO"],
  ["ReadOnlyMany", "ROX"],
  ["ReadWriteMany", "RWX"],
  ["ReadWriteOncePod", "RWOP"],
];

export function checkAccessModes(modes: readonly string[], path: FieldPath, errors: FieldErrors): void {
  for (const mode of modes) {
    if (!MODES.includes(mode)) errors.notSupported(path, mode, MODES);
  }
  const isShared = modes.some((mode) => mode !== "ReadWriteOncePod" && MODES.includes(mode));
  if (modes.includes("ReadWriteOncePod") && isShared) {
    errors.forbidden(path, "may not use ReadWriteOncePod with other access modes");
  }
}

/** Example: `RWO,RWX` */
export function accessModesText(modes: readonly string[]): string {
  return SHORT.filter(([mode]) => modes.includes(mode))
    .map(([, text]) => text)
    .join(",");
}
