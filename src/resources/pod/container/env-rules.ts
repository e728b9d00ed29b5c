/** Validates the environment variables of a container. */

import type { FieldErrors, FieldPath } from "../../../api/errors/field-error.ts";
import type {
  ConfigMapKeySelector,
  EnvFromSource,
  EnvVar,
  EnvVarSource,
  FileKeySelector,
} from "../../../api/generated/types/core-v1.ts";
import { configMapKey, dns1123Label, dns1123Subdomain, envVarName } from "../../../api/values/names.ts";
import { checkLocalPath } from "../local-path.ts";
import { checkFieldReference, checkResourceReference } from "./field-reference.ts";

const ENV_FIELDS = [
  "metadata.name",
  "metadata.namespace",
  "metadata.uid",
  "spec.nodeName",
  "spec.serviceAccountName",
  "status.hostIP",
  "status.hostIPs",
  "status.podIP",
  "status.podIPs",
];

export function checkEnv(variables: readonly EnvVar[], path: FieldPath, errors: FieldErrors): void {
  for (const [i, { name, value = "", valueFrom }] of variables.entries()) {
    const at = path.index(i);
    if (name === "") errors.required(at.child("name"));
    else errors.invalidFor(at.child("name"), name, envVarName(name));
    if (valueFrom === undefined) continue;
    const from = at.child("valueFrom");
    checkEnvSource(valueFrom, from, errors);
    const problem = sourceProblem(Object.keys(valueFrom).length, value);
    if (problem !== undefined) errors.invalid(from, "", problem);
  }
}

function sourceProblem(count: number, value: string): string | undefined {
  if (count === 0) {
    return "must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or `fileKeyRef`";
  }
  if (value !== "") return "may not be specified when `value` is not empty";
  return count > 1 ? "may not have more than one field specified at a time" : undefined;
}

function checkEnvSource(source: EnvVarSource, path: FieldPath, errors: FieldErrors): void {
  const { fieldRef, resourceFieldRef, configMapKeyRef, secretKeyRef, fileKeyRef } = source;
  if (fieldRef !== undefined) {
    checkFieldReference(fieldRef, { path: path.child("fieldRef"), fields: ENV_FIELDS }, errors);
  }
  if (resourceFieldRef !== undefined) {
    const place = { path: path.child("resourceFieldRef"), user: "container" } as const;
    checkResourceReference(resourceFieldRef, place, errors);
  }
  if (configMapKeyRef !== undefined)
    checkKeyReference(configMapKeyRef, path.child("configMapKeyRef"), errors);
  if (secretKeyRef !== undefined) checkKeyReference(secretKeyRef, path.child("secretKeyRef"), errors);
  if (fileKeyRef !== undefined) checkFileReference(fileKeyRef, path.child("fileKeyRef"), errors);
}

/** Used for ConfigMaps and Secrets, whose references have equal types. */
function checkKeyReference(
  { name = "", key }: ConfigMapKeySelector,
  path: FieldPath,
  errors: FieldErrors,
): void {
  errors.invalidFor(path.child("name"), name, dns1123Subdomain(name));
  if (key === "") errors.required(path.child("key"));
  else errors.invalidFor(path.child("key"), key, configMapKey(key));
}

function checkFileReference(
  { key, volumeName, path: file }: FileKeySelector,
  path: FieldPath,
  errors: FieldErrors,
): void {
  if (key === "") errors.required(path.child("key"));
  else errors.invalidFor(path.child("key"), key, envVarName(key));
  if (volumeName === "") errors.required(path.child("volumeName"));
  else errors.invalidFor(path.child("volumeName"), volumeName, dns1123Label(volumeName));
  if (file === "") errors.required(path.child("path"));
  else checkLocalPath(file, path.child("path"), errors);
}

export function checkEnvFrom(sources: readonly EnvFromSource[], path: FieldPath, errors: FieldErrors): void {
  for (const [i, { prefix = "", configMapRef, secretRef }] of sources.entries()) {
    const at = path.index(i);
    if (prefix !== "") errors.invalidFor(at.child("prefix"), prefix, envVarName(prefix));
    if (configMapRef !== undefined) checkReferredName(configMapRef.name, at.child("configMapRef"), errors);
    if (secretRef !== undefined) checkReferredName(secretRef.name, at.child("secretRef"), errors);
    // Upstream reports both errors at the path of the list.
    if (configMapRef === undefined && secretRef === undefined) {
      errors.invalid(path, "", "must specify one of: `configMapRef` or `secretRef`");
    } else if (configMapRef !== undefined && secretRef !== undefined) {
      errors.invalid(path, "", "may not have more than one field specified at a time");
    }
  }
}

function checkReferredName(name: string | undefined, path: FieldPath, errors: FieldErrors): void {
  if (name === undefined || name === "") errors.required(path.child("name"));
  else errors.invalidFor(path.child("name"), name, dns1123Subdomain(name));
}
