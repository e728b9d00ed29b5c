/**
 * Validates the metadata of every object, independent of its kind. The kind contributes its scope and the rule for its
 * name. Errors are added to a list, in upstream's words.
 */

import type { FieldErrors, FieldPath } from "./errors/field-error.ts";
import { fieldPath } from "./errors/field-error.ts";
import type { ManagedFieldsEntry, ObjectMeta, OwnerReference } from "./generated/types/meta-v1.ts";
import { validateLabels } from "./selectors/label-selector.ts";
import { quoted } from "./values/message-text.ts";
import type { NameRule } from "./values/names.ts";
import { dns1123Label, prefixOf, qualifiedName } from "./values/names.ts";

export interface MetadataRules {
  readonly scope: "Namespaced" | "Cluster";
  readonly name: NameRule;
  /** Built-in kinds accept qualified finalizers and Kubernetes' three standard ones; custom kinds accept any name. */
  readonly finalizers: "standard or qualified" | "any";
}

/** Upper bound for the bytes of all annotation keys and values of one object. */
export const ANNOTATIONS_MAX_BYTES = 256 * 1024;
const MANAGER_MAX_BYTES = 128;
const SUBRESOURCE_MAX_BYTES = 256;

const STANDARD_FINALIZERS = new Set(["kubernetes", "orphan", "foregroundDeletion"]);

const METADATA = fieldPath("metadata");
const NAME = METADATA.child("name");
const NAMESPACE = METADATA.child("namespace");
const LABELS = METADATA.child("labels");
const ANNOTATIONS = METADATA.child("annotations");
const OWNER_REFERENCES = METADATA.child("ownerReferences");
const FINALIZERS = METADATA.child("finalizers");
const MANAGED_FIELDS = METADATA.child("managedFields");
/** The only format of field sets in the API. */
const FIELDS_TYPE = "FieldsV1";

/** Immutable fields with their paths. */
const IDENTITY = (["name", "namespace", "uid"] as const).map(placed);
const TIMES = (["creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds"] as const).map(placed);

function placed<F extends string>(field: F): { readonly field: F; readonly path: FieldPath } {
  return { field, path: METADATA.child(field) };
}

/** Validates the metadata of a create. The server has already generated the name if `generateName` asks for one. */
export function validateMetadata(metadata: ObjectMeta, rules: MetadataRules, errors: FieldErrors): void {
  const { name = "", generateName = "", generation = 0 } = metadata;
  if (generateName !== "") {
    errors.invalidFor(METADATA.child("generateName"), generateName, prefixOf(rules.name)(generateName));
  }
  if (name === "") {
    errors.required(NAME, "name or generateName is required");
  } else {
    errors.invalidFor(NAME, name, rules.name(name));
  }
  validateNamespace(metadata.namespace ?? "", rules.scope, errors);
  if (generation < 0) {
    errors.invalid(METADATA.child("generation"), generation, "must be greater than or equal to 0");
  }
  validateFreeParts(metadata, errors);
  if (metadata.finalizers !== undefined) validateFinalizers(metadata.finalizers, errors);
  if (rules.finalizers === "standard or qualified") requireKnownFinalizers(metadata, errors);
}

/** Validates the metadata of an update: immutable fields are unchanged, and mutable fields follow the rules. */
export function validateMetadataUpdate(
  next: ObjectMeta,
  previous: ObjectMeta,
  { rules, errors }: { readonly rules: MetadataRules; readonly errors: FieldErrors },
): void {
  if (previous.deletionTimestamp !== undefined) refuseNewFinalizers(next, previous, errors);
  refuseIdentityChanges(next, previous, errors);
  validateFreeParts(next, errors);
  if (next.finalizers !== undefined) validateFinalizers(next.finalizers, errors);
  if (rules.finalizers === "standard or qualified") requireKnownFinalizers(next, errors);
}

/** The owner reference marked as controller. An object has at most one. */
export function findController(metadata: ObjectMeta): OwnerReference | undefined {
  return metadata.ownerReferences?.find((reference) => reference.controller === true);
}

/** Pod templates use this check too, with their own path. */
export function validateAnnotations(
  annotations: Readonly<Record<string, string>>,
  path: FieldPath,
  errors: FieldErrors,
): void {
  let bytes = 0;
  for (const [key, value] of Object.entries(annotations)) {
    // The rule of label keys, except that the prefix may contain upper case.
    errors.invalidFor(path, key, qualifiedName(key.toLowerCase()));
    bytes += Buffer.byteLength(key) + Buffer.byteLength(value);
  }
  if (bytes > ANNOTATIONS_MAX_BYTES) errors.tooLong(path, ANNOTATIONS_MAX_BYTES);
}

function refuseIdentityChanges(next: ObjectMeta, previous: ObjectMeta, errors: FieldErrors): void {
  if ((next.resourceVersion ?? "") === "") {
    errors.invalid(METADATA.child("resourceVersion"), "", "must be specified for an update");
  }
  if ((next.generation ?? 0) < (previous.generation ?? 0)) {
    errors.invalid(METADATA.child("generation"), next.generation ?? 0, "must not be decremented");
  }
  for (const { field, path } of IDENTITY) errors.immutable(path, next[field] ?? "", previous[field] ?? "");
  for (const { field, path } of TIMES) errors.immutable(path, next[field], previous[field]);
}

function validateNamespace(namespace: string, scope: MetadataRules["scope"], errors: FieldErrors): void {
  if (scope === "Cluster") {
    if (namespace !== "") errors.forbidden(NAMESPACE, "not allowed on this type");
  } else if (namespace === "") {
    errors.required(NAMESPACE);
  } else {
    errors.invalidFor(NAMESPACE, namespace, dns1123Label(namespace));
  }
}

/** Validates the fields that clients may set and change at will. */
function validateFreeParts(metadata: ObjectMeta, errors: FieldErrors): void {
  if (metadata.labels !== undefined) validateLabels(metadata.labels, LABELS, errors);
  if (metadata.annotations !== undefined) validateAnnotations(metadata.annotations, ANNOTATIONS, errors);
  if (metadata.ownerReferences !== undefined) validateOwnerReferences(metadata.ownerReferences, errors);
  if (metadata.managedFields?.every(isReadable) === true) validateOwners(metadata.managedFields, errors);
}

/**
 * An entry is unreadable if its operation, format or version is missing or unknown, as in the empty entry that clears
 * managedFields. One unreadable entry makes the server keep the object's previous managedFields.
 */
function isReadable({ operation, fieldsType, apiVersion = "" }: ManagedFieldsEntry): boolean {
  return isOperation(operation) && fieldsType === FIELDS_TYPE && apiVersion !== "";
}

function isOperation(operation: string | undefined): boolean {
  return operation === "Apply" || operation === "Update";
}

function validateOwnerReferences(references: readonly OwnerReference[], errors: FieldErrors): void {
  let controller: string | undefined;
  for (const reference of references) {
    validateOwnerReference(reference, errors);
    if (reference.controller !== true) continue;
    const name = `${reference.kind}/${reference.name}`;
    if (controller !== undefined) {
      const detail = `Only one reference can have Controller set to true. Found "true" in references for ${controller} and ${name}`;
      errors.invalid(OWNER_REFERENCES, references, detail);
    }
    controller ??= name;
  }
}

function validateOwnerReference(reference: OwnerReference, errors: FieldErrors): void {
  const path = OWNER_REFERENCES;
  if (/^([^/]*\/)?$/.test(reference.apiVersion)) {
    errors.invalid(path.child("apiVersion"), reference.apiVersion, "version must not be empty");
  }
  for (const field of ["kind", "name", "uid"] as const) {
    if (reference[field] === "") errors.invalid(path.child(field), "", "must not be empty");
  }
  // Events expire soon and in large numbers; garbage collection must not delete other objects with them.
  if (reference.apiVersion === "v1" && reference.kind === "Event") {
    errors.invalid(path, reference, "/v1, Kind=Event is disallowed from being an owner");
  }
}

function validateFinalizers(finalizers: readonly string[], errors: FieldErrors): void {
  const path = FINALIZERS;
  for (const finalizer of finalizers) errors.invalidFor(path, finalizer, qualifiedName(finalizer));
  if (finalizers.includes("orphan") && finalizers.includes("foregroundDeletion")) {
    errors.invalid(path, finalizers, "finalizer orphan and foregroundDeletion cannot be both set");
  }
}

function requireKnownFinalizers(metadata: ObjectMeta, errors: FieldErrors): void {
  for (const [i, finalizer] of (metadata.finalizers ?? []).entries()) {
    const path = FINALIZERS.index(i);
    const problems = qualifiedName(finalizer);
    errors.invalidFor(path, finalizer, problems);
    if (problems.length > 0 || finalizer.includes("/") || STANDARD_FINALIZERS.has(finalizer)) continue;
    errors.invalid(path, finalizer, "name is neither a standard finalizer name nor is it fully qualified");
  }
}

function refuseNewFinalizers(next: ObjectMeta, previous: ObjectMeta, errors: FieldErrors): void {
  const kept = new Set(previous.finalizers);
  const added = [...new Set(next.finalizers)].filter((finalizer) => !kept.has(finalizer)).sort();
  if (added.length === 0) return;
  errors.forbidden(
    FINALIZERS,
    `no new finalizers can be added if the object is being deleted, found new finalizers []string{${added.map(quoted).join(", ")}}`,
  );
}

/** Validates managedFields in an object embedded in another one. The server stores these entries unchanged. */
export function validateManagedFields(entries: readonly ManagedFieldsEntry[], errors: FieldErrors): void {
  for (const [i, { operation = "", fieldsType = "" }] of entries.entries()) {
    if (!isOperation(operation)) {
      errors.invalid(MANAGED_FIELDS.index(i).child("operation"), operation, "must be `Apply` or `Update`");
    }
    if (fieldsType !== "" && fieldsType !== FIELDS_TYPE) {
      errors.invalid(MANAGED_FIELDS.index(i).child("fieldsType"), fieldsType, "must be `FieldsV1`");
    }
  }
  validateOwners(entries, errors);
}

function validateOwners(entries: readonly ManagedFieldsEntry[], errors: FieldErrors): void {
  for (const [i, { manager = "", subresource = "" }] of entries.entries()) {
    // The path is built only for an invalid field: most writes contain valid entries only.
    const at = (field: string): FieldPath => MANAGED_FIELDS.index(i).child(field);
    if (Buffer.byteLength(manager) > MANAGER_MAX_BYTES) errors.tooLong(at("manager"), MANAGER_MAX_BYTES);
    if (Buffer.byteLength(subresource) > SUBRESOURCE_MAX_BYTES) {
      errors.tooLong(at("subresource"), SUBRESOURCE_MAX_BYTES);
    }
  }
}
