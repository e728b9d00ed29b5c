/** CustomResourceDefinition: a kind that users add. Its schemas are looked at where they are compiled. */

import { type FieldErrors, type FieldPath, fieldPath } from "../api/field-error.ts";
import type {
  CustomResourceDefinition,
  CustomResourceDefinitionNames,
  CustomResourceDefinitionSpec,
  CustomResourceDefinitionVersion,
} from "../api/generated/types/apiextensions-v1.ts";
import { dns1035Label, dns1123Subdomain } from "../api/names.ts";
import { defineKind, type Draft } from "./kind-rules.ts";
import { addNew, checkRequiredChoice } from "./value-rules.ts";

type Definition = CustomResourceDefinition;

const SPEC = fieldPath("spec");
const VERSIONS = SPEC.child("versions");

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

    validate(it, errors) {
      const { names, group, scope } = it.spec;
      const expected = `${names.plural}.${group}`;
      if (it.metadata.name !== expected) {
        errors.invalid("metadata.name", it.metadata.name, 'must be spec.names.plural+"."+spec.group');
      }
      checkGroup(group, errors);
      checkRequiredChoice(
        { path: SPEC.child("scope"), value: scope, among: ["Cluster", "Namespaced"] },
        errors,
      );
      checkVersions(it.spec.versions, errors);
      checkNames(names, SPEC.child("names"), errors);
      checkConversion(it.spec, errors);
    },

    validateUpdate(next, previous, errors) {
      if (isEstablished(previous)) {
        errors.immutable(SPEC.child("scope"), next.spec.scope, previous.spec.scope);
        errors.immutable(SPEC.child("names", "kind"), next.spec.names.kind, previous.spec.names.kind);
        errors.immutable(SPEC.child("names", "plural"), next.spec.names.plural, previous.spec.names.plural);
      }
      errors.immutable(SPEC.child("group"), next.spec.group, previous.spec.group);
      checkStoredVersions(next, errors);
    },

    validateStatus(next, _previous, errors) {
      checkStoredVersions(next, errors);
    },
  },
);

function storageVersions({ versions }: CustomResourceDefinitionSpec): string[] {
  return versions.filter(({ storage }) => storage).map(({ name }) => name);
}

/** Objects may lie in any version that ever was the stored one. */
function rememberStorageVersion({ spec, status }: Draft<Definition>): void {
  const stored = storageVersions(spec).filter((version) => !status.storedVersions.includes(version));
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

function checkVersions(versions: readonly CustomResourceDefinitionVersion[], errors: FieldErrors): void {
  const names = new Set<string>();
  let isUnique = true;
  for (const [i, { name, schema, deprecated = false, deprecationWarning }] of versions.entries()) {
    const path = VERSIONS.index(i);
    if (!addNew(names, name)) isUnique = false;
    const problems = dns1035Label(name);
    if (problems.length > 0) errors.invalid(path.child("name"), name, problems.join(","));
    if (schema?.openAPIV3Schema === undefined) {
      errors.required(path.child("schema", "openAPIV3Schema"), "schemas are required");
    }
    if (deprecationWarning !== undefined && !deprecated) {
      errors.invalid(
        path.child("deprecationWarning"),
        deprecationWarning,
        "can only be set for deprecated versions",
      );
    }
  }
  if (!isUnique) errors.invalid(VERSIONS, versions, "must contain unique version names");
  if (versions.filter(({ storage }) => storage).length !== 1) {
    errors.invalid(VERSIONS, versions, "must have exactly one version marked as storage version");
  }
}

function checkNames(names: CustomResourceDefinitionNames, path: FieldPath, errors: FieldErrors): void {
  const { plural, singular = "", kind, listKind = "", shortNames = [], categories = [] } = names;
  for (const [field, value] of Object.entries({ plural, singular, kind, listKind })) {
    if (value === "") errors.required(path.child(field));
    else
      checkLabel(
        field.toLowerCase().endsWith("kind") ? value.toLowerCase() : value,
        { path: path.child(field), shown: value },
        errors,
      );
  }
  for (const [field, list] of Object.entries({ shortNames, categories })) {
    for (const [i, value] of list.entries())
      checkLabel(value, { path: path.child(field).index(i), shown: value }, errors);
  }
  if (kind !== "" && kind === listKind) {
    errors.invalid(path.child("listKind"), listKind, "kind and listKind may not be the same");
  }
}

function checkLabel(
  text: string,
  { path, shown }: { readonly path: FieldPath; readonly shown: string },
  errors: FieldErrors,
): void {
  const problems = dns1035Label(text);
  if (problems.length === 0) return;
  const isKind = text !== shown;
  errors.invalid(
    path,
    shown,
    isKind ? `may have mixed case, but should otherwise match: ${problems.join(",")}` : problems.join(","),
  );
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
    } else if (webhook.conversionReviewVersions.length === 0) {
      errors.required(path.child("conversionReviewVersions"));
    }
  } else if (webhook !== undefined) {
    errors.forbidden(
      path.child("webhookClientConfig"),
      "should not be set when strategy is not set to Webhook",
    );
  }
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
