/** Data sources of a claim: the old field for the same namespace, and the newer field for any namespace. */

import type { FieldErrors, FieldPath } from "../../api/errors/field-error.ts";
import type {
  PersistentVolumeClaimSpec,
  TypedLocalObjectReference,
  TypedObjectReference,
} from "../../api/generated/types/core-v1.ts";
import { dns1123Label, dns1123Subdomain } from "../../api/values/names.ts";
import type { Draft } from "../rules/kind-rules.ts";

/** Normal form omits an empty group. */
type Reference = Partial<TypedObjectReference> & Pick<TypedObjectReference, "kind" | "name">;

/**
 * The old field accepts only claims and snapshots; other kinds are dropped. Then each field follows the
 * other.
 */
export function syncDataSources(spec: Draft<PersistentVolumeClaimSpec>): void {
  if (spec.dataSource !== undefined && !isClaimOrSnapshot(spec.dataSource)) delete spec.dataSource;
  const { dataSource, dataSourceRef } = spec;
  if (dataSource !== undefined && dataSourceRef === undefined) spec.dataSourceRef = { ...dataSource };
  if (dataSource !== undefined || dataSourceRef === undefined || (dataSourceRef.namespace ?? "") !== "")
    return;
  const { namespace: _, ...local } = dataSourceRef;
  spec.dataSource = local;
}

function isClaimOrSnapshot({ kind, apiGroup = "" }: Partial<TypedLocalObjectReference>): boolean {
  return (
    (kind === "PersistentVolumeClaim" && apiGroup === "") ||
    (kind === "VolumeSnapshot" && apiGroup === "snapshot.storage.k8s.io")
  );
}

export function checkDataSources(
  spec: PersistentVolumeClaimSpec,
  path: FieldPath,
  errors: FieldErrors,
): void {
  const { dataSource, dataSourceRef } = spec;
  if (dataSource !== undefined) checkReference(dataSource, path.child("dataSource"), errors);
  if (dataSourceRef === undefined) return;
  const { namespace = "" } = dataSourceRef;
  checkReference(dataSourceRef, path.child("dataSourceRef"), errors);
  if (namespace !== "") {
    errors.invalidFor(path.child("dataSourceRef", "namespace"), namespace, dns1123Label(namespace));
  }
  if (dataSource === undefined) return;
  if (namespace !== "") {
    errors.invalid(
      path,
      path.child("dataSource").toString(),
      "may not be specified when dataSourceRef.namespace is specified",
    );
  } else if (!isSameReference(dataSource, dataSourceRef)) {
    errors.invalid(path, path.child("dataSource").toString(), "must match dataSourceRef");
  }
}

function isSameReference(left: Reference, right: Reference): boolean {
  return left.apiGroup === right.apiGroup && left.kind === right.kind && left.name === right.name;
}

function checkReference(
  { name, kind, apiGroup = "" }: Reference,
  path: FieldPath,
  errors: FieldErrors,
): void {
  if (name === "") errors.required(path.child("name"));
  if (kind === "") errors.required(path.child("kind"));
  if (apiGroup !== "") errors.invalidFor(path.child("apiGroup"), apiGroup, dns1123Subdomain(apiGroup));
  else if (kind !== "PersistentVolumeClaim") {
    errors.invalid(path, kind, "must be 'PersistentVolumeClaim' when referencing the default apiGroup");
  }
}
