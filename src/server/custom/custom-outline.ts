/**
 * Summary of a CustomResourceDefinition without its schemas: names, versions, conditions. It is small, so that
 * thousands of unused kinds cost little memory. Schemas are read from the definition at first use.
 */
import { createHash } from "node:crypto";
import type {
  CustomResourceColumnDefinition,
  CustomResourceDefinition,
  CustomResourceDefinitionNames,
  CustomResourceDefinitionVersion,
  CustomResourceSubresourceScale,
} from "../../api/generated/types/apiextensions-v1.ts";
import { isJsonObject } from "../../api/json/json-object.ts";
import { stringifyJson } from "../../api/json/json-text.ts";
import { jsonEqual } from "../../api/patch/json-equal.ts";
import { compareVersions } from "../../api/values/version-order.ts";
import { isProtected } from "../../resources/definitions/custom-resource-definition-approval.ts";
import type { Entry } from "../../store/store.ts";
import { findReadable, findSpecText } from "../objects/stored-object.ts";

export interface VersionOutline {
  readonly name: string;
  readonly isServed: boolean;
  /** Warning for clients that use the version; undefined for a version that is not deprecated. */
  readonly deprecation: string | undefined;
  readonly hasStatus: boolean;
  readonly scale: CustomResourceSubresourceScale | undefined;
  readonly columns: readonly CustomResourceColumnDefinition[] | undefined;
  readonly selectable: readonly string[];
}

export interface CustomOutline {
  readonly group: string;
  readonly isNamespaced: boolean;
  /** Names under which the kind is served. */
  readonly names: CustomResourceDefinitionNames;
  readonly acceptedNames: CustomResourceDefinitionNames;
  /** Whether all requested names were accepted. */
  readonly hasAllNames: boolean;
  /**
   * Whether the naming controller has nothing left to do: the requested names are accepted and the kind is
   * established.
   */
  readonly isSettled: boolean;
  readonly versions: readonly VersionOutline[];
  readonly storageVersion: string;
  /** Whether a webhook converts between the versions. */
  readonly needsWebhook: boolean;
  readonly isEstablished: boolean;
  readonly isDeleted: boolean;
  /**
   * Digest that is equal as long as the kind is served in the same way. Computed on demand, because encoding a
   * definition takes as long as decoding it.
   */
  readonly edition: () => string;
}

const known = new WeakMap<Entry, CustomOutline | "unreadable">();

/** Undefined for an entry that is not a definition. Only the server writes here, but other programs may have. */
export function findOutline(entry: Entry): CustomOutline | undefined {
  const outline = known.get(entry) ?? read(entry);
  known.set(entry, outline);
  return outline === "unreadable" ? undefined : outline;
}

/** An entry that cannot be decrypted only makes its own kind unserved; other kinds do not wait for its key. */
function read(entry: Entry): CustomOutline | "unreadable" {
  const definition = findReadable(entry);
  return isDefinition(definition) ? outlineOf(definition, entry) : "unreadable";
}

function isDefinition(value: unknown): value is CustomResourceDefinition {
  if (!isJsonObject(value)) return false;
  const { spec, status, metadata } = value;
  return (
    isJsonObject(spec) &&
    isJsonObject(spec["names"]) &&
    Array.isArray(spec["versions"]) &&
    isJsonObject(status) &&
    isJsonObject(status["acceptedNames"]) &&
    Array.isArray(status["conditions"]) &&
    isJsonObject(metadata)
  );
}

function outlineOf({ metadata, spec, status }: CustomResourceDefinition, entry: Entry): CustomOutline {
  const { group, scope, versions } = spec;
  const isTrue = (name: string): boolean =>
    status.conditions.some(({ type, status: is }) => type === name && is === "True");
  const isEstablished = isTrue("Established");
  const names = isEstablished ? status.acceptedNames : spec.names;
  return {
    group,
    isNamespaced: scope === "Namespaced",
    names,
    acceptedNames: status.acceptedNames,
    hasAllNames: isTrue("NamesAccepted"),
    isSettled:
      isEstablished &&
      isTrue("NamesAccepted") &&
      jsonEqual(spec.names, status.acceptedNames) &&
      !isProtected(group),
    versions: versions.map((version) => versionOutline(version, { group, kind: names.kind, versions })),
    storageVersion: versions.find(({ storage }) => storage)?.name ?? "",
    needsWebhook: spec.conversion?.strategy === "Webhook",
    isEstablished,
    isDeleted: metadata.deletionTimestamp !== undefined,
    edition: editionOf(entry, [metadata.uid, isEstablished, names]),
  };
}

/** The generation is no substitute, because a delete request increments it too. */
function editionOf(entry: Entry, parts: readonly unknown[]): () => string {
  let made: string | undefined;
  return () => (made ??= digestOf(entry, parts));
}

function digestOf(entry: Entry, parts: readonly unknown[]): string {
  const text = findSpecText(entry) ?? readSpecText(entry);
  return createHash("sha256").update(stringifyJson(parts)).update(text).digest("base64");
}

function readSpecText(entry: Entry): string {
  const definition = findReadable(entry);
  return isDefinition(definition) ? stringifyJson(definition.spec) : "";
}

function versionOutline(version: CustomResourceDefinitionVersion, definition: Deprecating): VersionOutline {
  const { name, served, deprecated, deprecationWarning, subresources } = version;
  return {
    name,
    isServed: served,
    deprecation: deprecated === true ? (deprecationWarning ?? deprecationOf(name, definition)) : undefined,
    hasStatus: subresources?.status !== undefined,
    scale: subresources?.scale,
    columns: version.additionalPrinterColumns,
    selectable: (version.selectableFields ?? []).map(({ jsonPath }) => jsonPath.replace(/^\./, "")),
  };
}

interface Deprecating {
  readonly group: string;
  readonly kind: string;
  readonly versions: readonly CustomResourceDefinitionVersion[];
}

/** The warning recommends the best version that is not deprecated, if it is newer than this one. */
function deprecationOf(name: string, { group, kind, versions }: Deprecating): string {
  const [best] = versions
    .filter(({ served, deprecated }) => served && deprecated !== true)
    .map((version) => version.name)
    .filter((other) => compareVersions(other, name) > 0)
    .toSorted((left, right) => compareVersions(right, left));
  const instead = best === undefined ? "" : `; use ${group}/${best} ${kind}`;
  return `${group}/${name} ${kind} is deprecated${instead}`;
}
