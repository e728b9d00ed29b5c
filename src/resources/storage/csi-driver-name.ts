/** Validates names of CSI drivers. */

import type { FieldErrors, FieldPath } from "../../api/errors/field-error.ts";
import { dns1123Subdomain } from "../../api/values/names.ts";

/** Upper bound from socket paths, which contain the name and are short. */
const NAME_MAX = 63;

export function checkDriverName(name: string, path: FieldPath, errors: FieldErrors): void {
  if (name === "") {
    errors.required(path);
    return;
  }
  if (name.length > NAME_MAX) errors.tooLong(path, NAME_MAX);
  errors.invalidFor(path, name, dns1123Subdomain(name.toLowerCase()));
}
