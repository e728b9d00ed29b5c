/** Names of device drivers, as those of storage drivers. */

import type { FieldErrors, FieldPath } from "../../api/field-error.ts";
import { dns1123Subdomain } from "../../api/names.ts";

const NAME_MAX = 63;

export function checkDriver(name: string, path: FieldPath, errors: FieldErrors): void {
  if (name === "") errors.required(path);
  else if (name.length > NAME_MAX) errors.tooLong(path, NAME_MAX);
  else errors.invalidFor(path, name, dns1123Subdomain(name));
}

/** One to three parts with slashes between them. */
export function checkPoolName(name: string, path: FieldPath, errors: FieldErrors): void {
  if (name === "") {
    errors.required(path);
    return;
  }
  if (name.length > 253) errors.tooLong(path, 253);
  for (const part of name.split("/")) errors.invalidFor(path, part, dns1123Subdomain(part));
}
