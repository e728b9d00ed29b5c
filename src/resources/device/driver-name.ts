/** Validates names of drivers, pools, attributes and capacities. */

import type { FieldErrors, FieldPath } from "../../api/errors/field-error.ts";
import { cIdentifier, dns1123Subdomain } from "../../api/values/names.ts";
import { checkDriverName } from "../storage/csi-driver-name.ts";

const POOL_NAME_MAX = 253;
const IDENTIFIER_MAX = 32;

/** One or more DNS subdomains with slashes between them. */
export function checkPoolName(name: string, path: FieldPath, errors: FieldErrors): void {
  if (name === "") {
    errors.required(path);
    return;
  }
  if (name.length > POOL_NAME_MAX) errors.tooLong(path, POOL_NAME_MAX);
  for (const part of name.split("/")) errors.invalidFor(path, part, dns1123Subdomain(part));
}

/** Name of an attribute or a capacity: `gpu.example.com/model`, or `model` for the driver's own domain. */
export function checkAttributeName(name: string, path: FieldPath, errors: FieldErrors): void {
  const parts = name.split("/");
  if (parts.length > 2) {
    errors.invalid(path, name, "must not contain more than one slash");
    return;
  }
  const identifier = parts.at(-1) ?? "";
  if (parts.length === 1) {
    checkIdentifier(identifier, path, errors);
    return;
  }
  const [domain = ""] = parts;
  if (domain === "") errors.invalid(path, "", "the domain must not be empty");
  else checkDriverName(domain, path, errors);
  if (identifier === "") errors.invalid(path, "", "the name must not be empty");
  else checkIdentifier(identifier, path, errors);
}

/** Requires a domain, for names that belong to no particular driver. */
export function checkFullAttributeName(name: string, path: FieldPath, errors: FieldErrors): void {
  checkAttributeName(name, path, errors);
  if (!name.includes("/")) {
    errors.invalid(path, name, "a fully qualified name must be a domain and a name separated by a slash");
  }
}

function checkIdentifier(name: string, path: FieldPath, errors: FieldErrors): void {
  if (name.length > IDENTIFIER_MAX) errors.tooLong(path, IDENTIFIER_MAX);
  errors.invalidFor(path, name, cIdentifier(name));
}
