// Made by scripts/generate-facts.mjs. Do not edit.

export interface APIGroup {
  readonly apiVersion: "v1";
  readonly kind: "APIGroup";
  readonly name: string;
  readonly preferredVersion: GroupVersionForDiscovery;
  readonly serverAddressByClientCIDRs?: readonly ServerAddressByClientCIDR[];
  readonly versions: readonly GroupVersionForDiscovery[];
}

export interface APIGroupList {
  readonly apiVersion: "v1";
  readonly groups: readonly APIGroup[];
  readonly kind: "APIGroupList";
}

export interface APIResource {
  readonly categories?: readonly string[];
  readonly group?: string;
  readonly kind: string;
  readonly name: string;
  readonly namespaced: boolean;
  readonly shortNames?: readonly string[];
  readonly singularName: string;
  readonly storageVersionHash?: string;
  readonly verbs: readonly string[];
  readonly version?: string;
}

export interface APIResourceList {
  readonly apiVersion: "v1";
  readonly groupVersion: string;
  readonly kind: "APIResourceList";
  readonly resources: readonly APIResource[];
}

export interface APIVersions {
  readonly apiVersion: "v1";
  readonly kind: "APIVersions";
  readonly serverAddressByClientCIDRs: readonly ServerAddressByClientCIDR[];
  readonly versions: readonly string[];
}

export interface Condition {
  readonly lastTransitionTime: string;
  readonly message: string;
  readonly observedGeneration?: number;
  readonly reason: string;
  readonly status: string;
  readonly type: string;
}

export interface DeleteOptions {
  readonly apiVersion: "v1";
  readonly dryRun?: readonly string[];
  readonly gracePeriodSeconds?: number;
  readonly ignoreStoreReadErrorWithClusterBreakingPotential?: boolean;
  readonly kind: "DeleteOptions";
  readonly orphanDependents?: boolean;
  readonly preconditions?: Preconditions;
  readonly propagationPolicy?: string;
}

export interface FieldSelectorRequirement {
  readonly key: string;
  readonly operator: string;
  readonly values?: readonly string[];
}

export interface GroupResource {
  readonly group: string;
  readonly resource: string;
}

export interface GroupVersionForDiscovery {
  readonly groupVersion: string;
  readonly version: string;
}

export interface LabelSelector {
  readonly matchExpressions?: readonly LabelSelectorRequirement[];
  readonly matchLabels?: Readonly<Record<string, string>>;
}

export interface LabelSelectorRequirement {
  readonly key: string;
  readonly operator: string;
  readonly values?: readonly string[];
}

export interface ListMeta {
  readonly continue?: string;
  readonly remainingItemCount?: number;
  readonly resourceVersion?: string;
  readonly selfLink?: string;
  readonly shardInfo?: ShardInfo;
}

export interface ManagedFieldsEntry {
  readonly apiVersion?: string;
  readonly fieldsType?: string;
  readonly fieldsV1?: unknown;
  readonly manager?: string;
  readonly operation?: string;
  readonly subresource?: string;
  readonly time?: string;
}

export interface ObjectMeta {
  readonly annotations?: Readonly<Record<string, string>>;
  readonly creationTimestamp?: string;
  readonly deletionGracePeriodSeconds?: number;
  readonly deletionTimestamp?: string;
  readonly finalizers?: readonly string[];
  readonly generateName?: string;
  readonly generation?: number;
  readonly labels?: Readonly<Record<string, string>>;
  readonly managedFields?: readonly ManagedFieldsEntry[];
  readonly name?: string;
  readonly namespace?: string;
  readonly ownerReferences?: readonly OwnerReference[];
  readonly resourceVersion?: string;
  readonly selfLink?: string;
  readonly uid?: string;
}

export interface OwnerReference {
  readonly apiVersion: string;
  readonly blockOwnerDeletion?: boolean;
  readonly controller?: boolean;
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
}

export interface PartialObjectMetadata {
  readonly apiVersion: "meta.k8s.io/v1";
  readonly kind: "PartialObjectMetadata";
  readonly metadata: StoredMeta;
}

export interface PartialObjectMetadataList {
  readonly apiVersion: "meta.k8s.io/v1";
  readonly items: readonly PartialObjectMetadata[];
  readonly kind: "PartialObjectMetadataList";
  readonly metadata: ListMeta;
}

export interface Preconditions {
  readonly resourceVersion?: string;
  readonly uid?: string;
}

export interface ServerAddressByClientCIDR {
  readonly clientCIDR: string;
  readonly serverAddress: string;
}

export interface ShardInfo {
  readonly selector: string;
}

export interface Status {
  readonly apiVersion: "v1";
  readonly code?: number;
  readonly details?: StatusDetails;
  readonly kind: "Status";
  readonly message?: string;
  readonly metadata: ListMeta;
  readonly reason?: string;
  readonly status?: string;
}

export interface StatusCause {
  readonly field?: string;
  readonly message?: string;
  readonly reason?: string;
}

export interface StatusDetails {
  readonly causes?: readonly StatusCause[];
  readonly group?: string;
  readonly kind?: string;
  readonly name?: string;
  readonly retryAfterSeconds?: number;
  readonly uid?: string;
}

export interface WatchEvent {
  readonly object: unknown;
  readonly type: string;
}

/** Metadata of a stored object: members that every stored object has are not optional. */
export interface StoredMeta extends ObjectMeta {
  readonly creationTimestamp: string;
  readonly name: string;
  readonly resourceVersion: string;
  readonly uid: string;
}
