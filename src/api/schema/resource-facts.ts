/**
 * Facts about the built-in resources: names, verbs, scope, storage, update rules, columns and field selectors.
 * Generated from the published API and parsed on first use.
 */
import { RESOURCES_TEXT } from "../generated/resources.ts";

export type Verb = "create" | "delete" | "deletecollection" | "get" | "list" | "patch" | "update" | "watch";

export interface GroupVersionFacts {
  /** Empty for the core group. */
  readonly group: string;
  readonly version: string;
  /** Discovery lists groups and versions by descending priority. Undefined for the aggregator's own group. */
  readonly order: readonly [group: number, version: number] | undefined;
  readonly resources: readonly ResourceFacts[];
}

export interface ResourceFacts {
  /** Plural name, as in the URL. */
  readonly name: string;
  readonly singular: string;
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  /** Set only if it differs from the kind with the suffix `List`. */
  readonly listKind?: string;
  readonly namespaced: boolean;
  readonly verbs: readonly Verb[];
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  readonly subresources: readonly SubresourceFacts[];
  /** Undefined for resources that are never stored: reviews, bindings, component status. */
  readonly storage: StorageFacts | undefined;
  readonly columns: readonly ColumnFacts[] | undefined;
  /** Fields supported in field selectors, besides `metadata.name` and `metadata.namespace`. */
  readonly fieldSelectors: readonly string[];
  /** Schema name of a custom kind in OpenAPI. Undefined for built-in kinds. */
  readonly definition?: string;
}

export interface SubresourceFacts {
  readonly name: string;
  /** Group of the kind in requests and responses, which may differ from the resource's group (`Scale`, `Eviction`). */
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly verbs: readonly Verb[];
  /** True if the kind's group and version differ from the resource's. Discovery shows them only then. */
  readonly hasOwnGroup: boolean;
}

export interface StorageFacts {
  readonly group: string;
  readonly version: string;
  /** Storage version hash, as discovery shows it. */
  readonly hash: string;
  /** Part of the storage key after `/registry/`. */
  readonly prefix: string;
  /** PUT of a missing object creates it. */
  readonly createsOnUpdate: boolean;
  /** PUT without resourceVersion overwrites the object unconditionally. */
  readonly updatesUnconditionally: boolean;
  readonly hasGeneration: boolean;
  /** DELETE returns the deleted object, not a Status. */
  readonly showsDeleted: boolean;
}

export interface ColumnFacts {
  readonly name: string;
  readonly type: "boolean" | "date" | "integer" | "number" | "string";
  readonly format: string;
  /** `kubectl get` shows columns above 0 only with `-o wide`. */
  readonly priority: number;
  readonly description?: string;
}

/** Rows of the generated file, written by scripts/generate-facts.mjs. */
interface GroupVersionRow {
  readonly group: string;
  readonly version: string;
  readonly order?: readonly [number, number];
  readonly resources: readonly ResourceRow[];
}

interface ResourceRow {
  readonly name: string;
  readonly singular: string;
  readonly kind: string;
  readonly namespaced: boolean;
  readonly verbs: readonly Verb[];
  readonly shortNames?: readonly string[];
  readonly categories?: readonly string[];
  readonly hash?: string;
  readonly storedGroup?: string;
  readonly storedVersion?: string;
  readonly prefix?: string;
  readonly strategy?: Readonly<Record<"createOnUpdate" | "generation" | "unconditionalUpdate", boolean>>;
  readonly columns?: readonly (readonly [string, ColumnFacts["type"], string, number])[];
  readonly selectors?: readonly string[];
  readonly subresources: readonly SubresourceRow[];
}

interface SubresourceRow {
  readonly name: string;
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly verbs: readonly Verb[];
  readonly foreign?: boolean;
}

/** Resources whose DELETE returns the object, from the published API. All resources of `resource.k8s.io` do too. */
const SHOWING_DELETED: ReadonlySet<string> = new Set([
  "persistentvolumeclaims",
  "persistentvolumes",
  "pods",
  "podtemplates",
  "resourcequotas",
  "serviceaccounts",
  "services",
  "csidrivers.storage.k8s.io",
  "csinodes.storage.k8s.io",
  "storageclasses.storage.k8s.io",
  "volumeattachments.storage.k8s.io",
  "volumeattributesclasses.storage.k8s.io",
]);

/** Versions served by default: neither alpha nor beta. */
const STABLE_VERSION = /^v\d+$/;

let parsed: readonly GroupVersionFacts[] | undefined;

/** All built-in group versions, sorted by group and version. */
export function groupVersions(): readonly GroupVersionFacts[] {
  return (parsed ??= (JSON.parse(RESOURCES_TEXT) as readonly GroupVersionRow[]).map(groupVersionOf));
}

export function isServedByDefault({ version }: GroupVersionFacts): boolean {
  return STABLE_VERSION.test(version);
}

/** `v1` or `apps/v1`. */
export function apiVersionOf({
  group,
  version,
}: {
  readonly group: string;
  readonly version: string;
}): string {
  return group === "" ? version : `${group}/${version}`;
}

function groupVersionOf({ group, version, order, resources }: GroupVersionRow): GroupVersionFacts {
  return { group, version, order, resources: resources.map((row) => resourceOf(row, { group, version })) };
}

function resourceOf(
  row: ResourceRow,
  owner: { readonly group: string; readonly version: string },
): ResourceFacts {
  return {
    name: row.name,
    singular: row.singular,
    group: owner.group,
    version: owner.version,
    kind: row.kind,
    namespaced: row.namespaced,
    verbs: row.verbs,
    shortNames: row.shortNames ?? [],
    categories: row.categories ?? [],
    subresources: row.subresources.map(subresourceOf),
    storage: storageOf(row, owner),
    columns: row.columns?.map(([name, type, format, priority]) => ({ name, type, format, priority })),
    fieldSelectors: row.selectors ?? [],
  };
}

function subresourceOf({
  name,
  group,
  version,
  kind,
  verbs,
  foreign = false,
}: SubresourceRow): SubresourceFacts {
  return { name, group, version, kind, verbs, hasOwnGroup: foreign };
}

function storageOf(
  { name, hash, storedGroup, storedVersion, prefix, strategy }: ResourceRow,
  owner: { readonly group: string; readonly version: string },
): StorageFacts | undefined {
  if (hash === undefined) return undefined;
  return {
    group: storedGroup ?? owner.group,
    version: storedVersion ?? owner.version,
    hash,
    prefix: prefix ?? name,
    createsOnUpdate: strategy?.createOnUpdate ?? false,
    updatesUnconditionally: strategy?.unconditionalUpdate ?? false,
    hasGeneration: strategy?.generation ?? false,
    showsDeleted: showsDeleted(owner.group, name),
  };
}

function showsDeleted(group: string, name: string): boolean {
  return group === "resource.k8s.io" || SHOWING_DELETED.has(group === "" ? name : `${name}.${group}`);
}
