/** Validates the parameters of a class, which only its driver interprets. */

import { type FieldErrors, fieldPath } from "../../api/errors/field-error.ts";
import { qualifiedName } from "../../api/values/names.ts";

const COUNT_MAX = 512;
const BYTES_MAX = 256 * 1024;
const PATH = fieldPath("parameters");

export function checkParameters(parameters: Readonly<Record<string, string>>, errors: FieldErrors): void {
  const entries = Object.entries(parameters);
  if (entries.length > COUNT_MAX) {
    errors.tooLong(PATH, COUNT_MAX);
    return;
  }
  let bytes = 0;
  for (const [key, value] of entries) {
    if (key === "") errors.invalid(PATH, key, "field can not be empty.");
    bytes += Buffer.byteLength(key) + Buffer.byteLength(value);
  }
  if (bytes > BYTES_MAX) errors.tooLong(PATH, BYTES_MAX);
}

/** Checks the name of the driver that provisions volumes. */
export function checkProvisioner(
  name: string,
  field: "provisioner" | "driverName",
  errors: FieldErrors,
): void {
  if (name === "") errors.required(field);
  else errors.invalidFor(field, name, qualifiedName(name.toLowerCase()));
}
