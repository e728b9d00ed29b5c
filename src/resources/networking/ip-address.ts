/** IPAddress: an address in use and the object that uses it. Its name is the address. */

import { type FieldErrors, fieldPath } from "../../api/errors/field-error.ts";
import type { IPAddress, ParentReference } from "../../api/generated/types/networking-v1.ts";
import { ipAddress as canonicalIp } from "../../api/values/ip-address.ts";
import { dns1123Subdomain, pathSegmentName } from "../../api/values/names.ts";
import { defineKind } from "../rules/kind-rules.ts";

const PARENT = fieldPath("spec", "parentRef");

export const ipAddress = defineKind<IPAddress>("networking.k8s.io/v1", "IPAddress", {
  nameRule: (name) => canonicalIp(name),

  validate({ spec }, errors) {
    if (spec.parentRef === undefined) errors.required(PARENT);
    else checkParent(spec.parentRef, errors);
  },

  validateUpdate(next, previous, errors) {
    errors.immutable(PARENT, next.spec.parentRef, previous.spec.parentRef);
  },

  cells: ({ metadata, spec }) => [metadata.name, parentText(spec.parentRef)],
});

function checkParent(
  { group = "", resource = "", namespace = "", name = "" }: ParentReference,
  errors: FieldErrors,
): void {
  if (group !== "") errors.invalidFor(PARENT.child("group"), group, dns1123Subdomain(group));
  const parts = { resource, name, namespace };
  for (const field of ["resource", "name", "namespace"] as const) {
    const value = parts[field];
    if (value === "") {
      if (field !== "namespace") errors.required(PARENT.child(field));
    } else {
      errors.invalidFor(PARENT.child(field), value, pathSegmentName(value));
    }
  }
}

function parentText(parent: ParentReference | undefined): string {
  if (parent === undefined) return "<none>";
  const { group = "", resource = "", namespace = "", name = "" } = parent;
  const kind = group === "" ? resource : `${resource}.${group}`;
  return namespace === "" ? `${kind}/${name}` : `${kind}/${namespace}/${name}`;
}
