/** Defaults, validation and cells that RoleBinding and ClusterRoleBinding share. */

import { type FieldErrors, type FieldPath, fieldPath } from "../../api/errors/field-error.ts";
import type { ClusterRoleBinding, RoleBinding, Subject } from "../../api/generated/types/rbac-v1.ts";
import { dns1123Subdomain, pathSegmentName } from "../../api/values/names.ts";
import { ageText } from "../rules/human-duration.ts";
import type { Draft } from "../rules/kind-rules.ts";
import { isSame } from "../rules/value-rules.ts";
import type { RoleScope } from "./policy-rules.ts";

type Binding = RoleBinding | ClusterRoleBinding;

const GROUP = "rbac.authorization.k8s.io";
const ROLE_REF = fieldPath("roleRef");

export function bindingDefaults({ roleRef, subjects = [] }: Draft<Binding>): void {
  if (roleRef.apiGroup === "") roleRef.apiGroup = GROUP;
  for (const subject of subjects) {
    if (subject.kind === "User" || subject.kind === "Group") subject.apiGroup ??= GROUP;
  }
}

export function checkBinding(it: Binding, scope: RoleScope, errors: FieldErrors): void {
  const { roleRef, subjects = [] } = it;
  const kinds = scope === "Namespaced" ? ["Role", "ClusterRole"] : ["ClusterRole"];
  if (roleRef.apiGroup !== GROUP) errors.notSupported(ROLE_REF.child("apiGroup"), roleRef.apiGroup, [GROUP]);
  if (!kinds.includes(roleRef.kind)) errors.notSupported(ROLE_REF.child("kind"), roleRef.kind, kinds);
  if (roleRef.name === "") errors.required(ROLE_REF.child("name"));
  else errors.invalidFor(ROLE_REF.child("name"), roleRef.name, pathSegmentName(roleRef.name));
  for (const [i, subject] of subjects.entries()) {
    checkSubject(subject, { scope, path: fieldPath("subjects").index(i) }, errors);
  }
}

function checkSubject(
  subject: Subject,
  { scope, path }: { readonly scope: RoleScope; readonly path: FieldPath },
  errors: FieldErrors,
): void {
  const { kind, name, apiGroup = "", namespace = "" } = subject;
  if (name === "") errors.required(path.child("name"));
  switch (kind) {
    case "ServiceAccount":
      if (name !== "") errors.invalidFor(path.child("name"), name, dns1123Subdomain(name));
      if (apiGroup !== "") errors.notSupported(path.child("apiGroup"), apiGroup, [""]);
      if (scope === "Cluster" && namespace === "") errors.required(path.child("namespace"));
      break;
    case "User":
    case "Group":
      if (apiGroup !== GROUP) errors.notSupported(path.child("apiGroup"), apiGroup, [GROUP]);
      break;
    default:
      errors.notSupported(path.child("kind"), kind, ["ServiceAccount", "User", "Group"]);
  }
}

/** The role is immutable: permission to update a binding must not grant another role. */
export function checkSameRole(
  { roleRef: next }: Binding,
  { roleRef: previous }: Binding,
  errors: FieldErrors,
): void {
  if (isSame(next, previous)) return;
  const shown = { APIGroup: next.apiGroup, Kind: next.kind, Name: next.name };
  errors.invalid(ROLE_REF, shown, "cannot change roleRef");
}

export function bindingCells(it: Binding, now: number): readonly string[] {
  const { roleRef, subjects = [] } = it;
  const named = (kind: string): string =>
    subjects
      .filter((subject) => subject.kind === kind)
      .map(({ name, namespace = "" }) => (kind === "ServiceAccount" ? `${namespace}/${name}` : name))
      .join(", ");
  return [
    it.metadata.name,
    `${roleRef.kind}/${roleRef.name}`,
    ageText(it, now),
    named("User"),
    named("Group"),
    named("ServiceAccount"),
  ];
}
