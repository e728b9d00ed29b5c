/**
 * What the published API says of its resources: names, verbs, scope, where and as what they are stored, how they
 * may be updated, which columns and field selectors they have. Parsed when first asked for.
 */
import { RESOURCES_TEXT } from "../generated/resources.ts";

export type Verb = "create" | "delete" | "deletecollection" | "get" | "list" | "patch" | "update" | "watch";

export interface GroupVersionFacts {
  /** Empty for the core group. */
  readonly group: string;
  readonly version: string;
  /** Discovery lists groups and their versions by falling priority; the aggregator's own group has none. */
  readonly order: readonly [group: number, version: number] | undefined;
  readonly resources: readonly ResourceFacts[];
}

export interface ResourceFacts {
  /** The plural name, as in the URL. */
  readonly name: string;
  readonly singular: string;
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  /** Where it is not the kind with `List`. */
  readonly listKind?: string;
  readonly namespaced: boolean;
  readonly verbs: readonly Verb[];
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  readonly subresources: readonly SubresourceFacts[];
  /** `undefined` for what is never stored: reviews, bindings, component status. */
  readonly storage: StorageFacts | undefined;
  readonly columns: readonly ColumnFacts[] | undefined;
  /** Fields a field selector may name, besides `metadata.name` and `metadata.namespace`. */
  readonly fieldSelectors: readonly string[];
  /** Under which name a custom kind is published; `undefined` for those of the published API. */
  readonly definition?: string;
}

export interface SubresourceFacts {
  readonly name: string;
  /** The kind that is sent and answered, which may belong to another group (`Scale`, `Eviction`). */
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly verbs: readonly Verb[];
  /** Discovery names group and version of the kind only when they are not the resource's own. */
  readonly hasOwnGroup: boolean;
}

export interface StorageFacts {
  readonly group: string;
  readonly version: string;
  /** As discovery shows it. */
  readonly hash: string;
  /** The key's part after `/registry/`. */
  readonly prefix: string;
  /** PUT of an object that does not exist creates it. */
  readonly createsOnUpdate: boolean;
  /** PUT without resourceVersion overwrites whatever is there. */
  readonly updatesUnconditionally: boolean;
  readonly hasGeneration: boolean;
  /** DELETE answers with the object that is gone, not with a Status. */
  readonly showsDeleted: boolean;
}

export interface ColumnFacts {
  readonly name: string;
  readonly type: "boolean" | "date" | "integer" | "number" | "string";
  readonly format: string;
  /** Columns above 0 are shown only when asked for. */
  readonly priority: number;
  readonly description?: string;
}

/** The generated form; scripts/generate-facts.mjs makes it. */
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

/** As the published API says of their DELETE; of `resource.k8s.io` all. */
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

/** A version that a server serves unless told otherwise: neither alpha nor beta. */
const STABLE_VERSION = /^v\d+$/;

let parsed: readonly GroupVersionFacts[] | undefined;

/** All group versions the published API knows, sorted by group and version. */
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
