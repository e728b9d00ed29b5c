/** CustomResourceDefinition: a kind that users add. */

import { type FieldErrors, type FieldPath, fieldPath } from "../../api/errors/field-error.ts";
import type {
  CustomResourceDefinition,
  CustomResourceDefinitionNames,
  CustomResourceDefinitionSpec,
  CustomResourceDefinitionVersion,
} from "../../api/generated/types/apiextensions-v1.ts";
import { dns1035Label, dns1123Subdomain } from "../../api/values/names.ts";
import { timeText } from "../../api/values/time.ts";
import { checkClientConfig } from "../admission/webhook-client.ts";
import { findBundleMistake } from "../certificates/ca-bundle.ts";
import { defineKind, type Draft } from "../rules/kind-rules.ts";
import { addNew, checkRequiredChoice } from "../rules/value-rules.ts";
import { checkApproval } from "./custom-resource-definition-approval.ts";
import { formatWarnings } from "./custom-resource-definition-formats.ts";
import { checkVersionParts } from "./custom-resource-definition-versions.ts";

type Definition = CustomResourceDefinition;

const SPEC = fieldPath("spec");
const VERSIONS = SPEC.child("versions");
/** Keeps a definition until all objects of its kind are deleted. */
export const CLEANUP_FINALIZER = "customresourcecleanup.apiextensions.k8s.io";
/** Upstream's default for a webhook without `conversionReviewVersions`. */
const REVIEW_VERSIONS = ["v1", "v1beta1"];
const WARNING_MAX = 256;

export const customResourceDefinition = defineKind<Definition>(
  "apiextensions.k8s.io/v1",
  "CustomResourceDefinition",
  {
    defaults({ spec, status }) {
      spec.names.singular ??= spec.names.kind.toLowerCase();
      spec.names.listKind ??= `${spec.names.kind}List`;
      spec.conversion ??= { strategy: "None" };
      const service = spec.conversion.webhook?.clientConfig?.service;
      if (service !== undefined) service.port ??= 443;
      if (status.storedVersions.length === 0) status.storedVersions = storageVersions(spec);
    },

    prepareCreate(draft) {
      draft.status = {
        acceptedNames: { kind: "", plural: "" },
        conditions: [],
        storedVersions: storageVersions(draft.spec),
      };
    },

    prepareUpdate: rememberStorageVersion,

    warnings: formatWarnings,

    deletionFinalizer: CLEANUP_FINALIZER,

    markDeleted({ status }, now) {
      const condition = {
        type: "Terminating",
        status: "True",
        reason: "InstanceDeletionPending",
        message: "CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon",
        lastTransitionTime: timeText(now),
      };
      status.conditions = [...status.conditions.filter(({ type }) => type !== "Terminating"), condition];
    },

    validateCreate(it, errors) {
      const { names, group } = it.spec;
      const { name } = it.metadata;
      if (name !== "" && name !== `${names.plural}.${group}`) {
        errors.invalid("metadata.name", name, 'must be spec.names.plural+"."+spec.group');
      }
      checkSpec(it.spec, errors);
      checkVersionParts(it.spec.versions, [], errors);
      checkApproval(it, undefined, errors);
      checkPreserved(it.spec, errors);
      checkStoredVersions(it, errors);
    },

    validateUpdate(next, previous, errors) {
      checkSpec(next.spec, errors);
      checkVersionParts(next.spec.versions, previous.spec.versions, errors);
      checkApproval(next, previous, errors);
      if (previous.spec.preserveUnknownFields !== true) checkPreserved(next.spec, errors);
      if (isEstablished(previous)) {
        errors.immutable(SPEC.child("scope"), next.spec.scope, previous.spec.scope);
        errors.immutable(SPEC.child("names", "kind"), next.spec.names.kind, previous.spec.names.kind);
      }
      errors.immutable(SPEC.child("group"), next.spec.group, previous.spec.group);
      errors.immutable(SPEC.child("names", "plural"), next.spec.names.plural, previous.spec.names.plural);
      checkStoredVersions(next, errors);
      checkBundle(next.spec, previous.spec, errors);
    },

    // Stored versions are checked when the definition itself is written.
    validateStatus({ status }, _previous, errors) {
      checkNameTexts(status.acceptedNames, fieldPath("status", "acceptedNames"), errors);
    },
  },
);

function checkSpec(spec: CustomResourceDefinitionSpec, errors: FieldErrors): void {
  const { names, group, scope, versions } = spec;
  checkGroup(group, errors);
  checkRequiredChoice({ path: SPEC.child("scope"), value: scope, among: ["Cluster", "Namespaced"] }, errors);
  checkVersions(versions, errors);
  checkNames(names, SPEC.child("names"), errors);
  checkConversion(spec, errors);
}

function storageVersions({ versions }: CustomResourceDefinitionSpec): string[] {
  return versions.filter(({ storage }) => storage).map(({ name }) => name);
}

/** Objects may be stored in any version that once was the storage version. */
function rememberStorageVersion({ spec, status }: Draft<Definition>): void {
  const known = new Set(status.storedVersions);
  const stored = storageVersions(spec).filter((version) => !known.has(version));
  status.storedVersions = [...status.storedVersions, ...stored];
}

function isEstablished({ status }: Definition): boolean {
  return status.conditions.some(({ type, status: state }) => type === "Established" && state === "True");
}

function checkGroup(group: string, errors: FieldErrors): void {
  const path = SPEC.child("group");
  const problems = dns1123Subdomain(group);
  if (group === "") errors.required(path);
  else if (problems.length > 0) errors.invalid(path, group, problems.join(","));
  else if (!group.includes(".")) errors.invalid(path, group, "should be a domain with at least one dot");
}

/** `x-kubernetes-preserve-unknown-fields` in the schema is the supported way to keep unknown fields. */
function checkPreserved({ preserveUnknownFields }: CustomResourceDefinitionSpec, errors: FieldErrors): void {
  if (preserveUnknownFields !== true) return;
  const detail =
    "cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead";
  errors.invalid(SPEC.child("preserveUnknownFields"), true, detail);
}

function checkDeprecation(
  { deprecated = false, deprecationWarning }: CustomResourceDefinitionVersion,
  path: FieldPath,
  errors: FieldErrors,
): void {
  if (deprecationWarning === undefined) return;
  const at = path.child("deprecationWarning");
  if (!deprecated) return errors.invalid(at, deprecationWarning, "can only be set for deprecated versions");
  if (deprecationWarning.length > WARNING_MAX)
    errors.invalid(at, deprecationWarning, `must be <= ${WARNING_MAX} characters long`);
  if (deprecationWarning === "") errors.invalid(at, deprecationWarning, "must not be an empty string");
  const control = deprecationWarning.search(/[\p{Cc}\p{Cf}\p{Co}\p{Cs}\p{Zl}\p{Zp}]/u);
  if (control >= 0)
    errors.invalid(
      at,
      deprecationWarning,
      `must only contain printable UTF-8 characters; non-printable character found at index ${control}`,
    );
}

function checkVersions(versions: readonly CustomResourceDefinitionVersion[], errors: FieldErrors): void {
  const names = new Set<string>();
  let isUnique = true;
  for (const [i, version] of versions.entries()) {
    const { name, schema } = version;
    const path = VERSIONS.index(i);
    if (!addNew(names, name)) isUnique = false;
    const problems = dns1035Label(name);
    if (problems.length > 0) errors.invalid(path.child("name"), name, problems.join(","));
    if (schema?.openAPIV3Schema === undefined) {
      errors.required(path.child("schema", "openAPIV3Schema"));
    }
    checkDeprecation(version, path, errors);
  }
  if (!isUnique) errors.invalid(VERSIONS, versions, "must contain unique version names");
  if (versions.filter(({ storage }) => storage).length !== 1) {
    errors.invalid(VERSIONS, versions, "must have exactly one version marked as storage version");
  }
  // Upstream checks the first name again, as the old field `spec.version`.
  const { name = "" } = versions[0] ?? {};
  if (name !== "") checkLabel(name, SPEC.child("version"), errors);
}

function checkNames(names: CustomResourceDefinitionNames, path: FieldPath, errors: FieldErrors): void {
  const { plural, singular = "", kind, listKind = "" } = names;
  for (const [field, value] of Object.entries({ plural, singular, kind, listKind })) {
    if (value === "") errors.required(path.child(field));
  }
  checkNameTexts(names, path, errors);
}

/** Skips names that are empty. */
function checkNameTexts(names: CustomResourceDefinitionNames, path: FieldPath, errors: FieldErrors): void {
  const { plural, singular = "", kind, listKind = "", shortNames = [], categories = [] } = names;
  for (const [field, value] of Object.entries({ plural, singular, kind, listKind })) {
    if (value === "") continue;
    if (field.toLowerCase().endsWith("kind")) checkKindName(value, path.child(field), errors);
    else checkLabel(value, path.child(field), errors);
  }
  for (const [field, list] of Object.entries({ shortNames, categories })) {
    for (const [i, value] of list.entries()) checkLabel(value, path.child(field).index(i), errors);
  }
  if (kind !== "" && kind === listKind) {
    errors.invalid(path.child("listKind"), listKind, "kind and listKind may not be the same");
  }
}

function checkLabel(text: string, path: FieldPath, errors: FieldErrors): void {
  const problems = dns1035Label(text);
  if (problems.length > 0) errors.invalid(path, text, problems.join(","));
}

function checkKindName(text: string, path: FieldPath, errors: FieldErrors): void {
  const problems = dns1035Label(text.toLowerCase());
  if (problems.length > 0)
    errors.invalid(path, text, `may have mixed case, but should otherwise match: ${problems.join(",")}`);
}

function checkConversion({ conversion }: CustomResourceDefinitionSpec, errors: FieldErrors): void {
  const path = SPEC.child("conversion");
  if (conversion === undefined) return;
  const { strategy, webhook } = conversion;
  checkRequiredChoice({ path: path.child("strategy"), value: strategy, among: ["None", "Webhook"] }, errors);
  if (strategy === "Webhook") {
    if (webhook?.clientConfig === undefined) {
      const detail = "required when strategy is set to Webhook";
      errors.required(path.child("webhookClientConfig"), detail);
    } else checkClientConfig(webhook.clientConfig, path.child("webhookClientConfig"), errors);
    checkReviewVersions(
      webhook?.conversionReviewVersions ?? [],
      path.child("conversionReviewVersions"),
      errors,
    );
  } else {
    const detail = "should not be set when strategy is not set to Webhook";
    if (webhook?.clientConfig !== undefined) errors.forbidden(path.child("webhookClientConfig"), detail);
    if ((webhook?.conversionReviewVersions ?? []).length > 0)
      errors.forbidden(path.child("conversionReviewVersions"), detail);
  }
}

/** Without a valid bundle the server could no longer call the conversion webhook. */
function checkBundle(
  next: CustomResourceDefinitionSpec,
  previous: CustomResourceDefinitionSpec,
  errors: FieldErrors,
): void {
  const { caBundle } = next.conversion?.webhook?.clientConfig ?? {};
  const { caBundle: before = "" } = previous.conversion?.webhook?.clientConfig ?? {};
  const mistake = before === "" || caBundle === before ? undefined : findBundleMistake(caBundle);
  if (mistake === undefined || findBundleMistake(before) !== undefined) return;
  errors.invalid(SPEC.child("conversion", "webhookClientConfig", "caBundle"), caBundle, mistake);
}

function checkReviewVersions(versions: readonly string[], path: FieldPath, errors: FieldErrors): void {
  if (versions.length === 0) return errors.required(path);
  const seen = new Set<string>();
  for (const [i, version] of versions.entries()) {
    if (!addNew(seen, version)) errors.invalid(path.index(i), version, "duplicate version");
    else errors.invalidFor(path.index(i), version, dns1035Label(version));
  }
  if (!versions.some((version) => REVIEW_VERSIONS.includes(version)))
    errors.invalid(path, versions, `must include at least one of ${REVIEW_VERSIONS.join(", ")}`);
}

function checkStoredVersions({ spec, status }: Definition, errors: FieldErrors): void {
  const path = fieldPath("status", "storedVersions");
  if (status.storedVersions.length === 0)
    errors.invalid(path, status.storedVersions, "must have at least one stored version");
  const known = new Set(spec.versions.map(({ name }) => name));
  for (const [i, version] of status.storedVersions.entries()) {
    if (known.has(version)) continue;
    const detail = `missing from spec.versions; ${version} was previously a storage version, and must remain in spec.versions until a storage migration ensures no data remains persisted in ${version} and removes ${version} from status.storedVersions`;
    errors.invalid(path.index(i), version, detail);
  }
}
