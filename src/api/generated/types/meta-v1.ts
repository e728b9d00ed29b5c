// Made by scripts/generate-facts.mjs. Do not edit.

export type APIGroup = {
  readonly apiVersion: "v1";
  readonly kind: "APIGroup";
  readonly name: string;
  readonly preferredVersion: GroupVersionForDiscovery;
  readonly serverAddressByClientCIDRs?: readonly ServerAddressByClientCIDR[];
  readonly versions: readonly GroupVersionForDiscovery[];
};

export type APIGroupList = {
  readonly apiVersion: "v1";
  readonly groups: readonly APIGroup[];
  readonly kind: "APIGroupList";
};

export type APIResource = {
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
};

export type APIResourceList = {
  readonly apiVersion: "v1";
  readonly groupVersion: string;
  readonly kind: "APIResourceList";
  readonly resources: readonly APIResource[];
};

export type APIVersions = {
  readonly apiVersion: "v1";
  readonly kind: "APIVersions";
  readonly serverAddressByClientCIDRs: readonly ServerAddressByClientCIDR[];
  readonly versions: readonly string[];
};

export type Condition = {
  readonly lastTransitionTime: string;
  readonly message: string;
  readonly observedGeneration?: number;
  readonly reason: string;
  readonly status: string;
  readonly type: string;
};

export type DeleteOptions = {
  readonly apiVersion: "v1";
  readonly dryRun?: readonly string[];
  readonly gracePeriodSeconds?: number;
  readonly ignoreStoreReadErrorWithClusterBreakingPotential?: boolean;
  readonly kind: "DeleteOptions";
  readonly orphanDependents?: boolean;
  readonly preconditions?: Preconditions;
  readonly propagationPolicy?: string;
};

export type FieldSelectorRequirement = {
  readonly key: string;
  readonly operator: string;
  readonly values?: readonly string[];
};

export type GroupResource = {
  readonly group: string;
  readonly resource: string;
};

export type GroupVersionForDiscovery = {
  readonly groupVersion: string;
  readonly version: string;
};

export type LabelSelector = {
  readonly matchExpressions?: readonly LabelSelectorRequirement[];
  readonly matchLabels?: Readonly<Record<string, string>>;
};

export type LabelSelectorRequirement = {
  readonly key: string;
  readonly operator: string;
  readonly values?: readonly string[];
};

export type ListMeta = {
  readonly continue?: string;
  readonly remainingItemCount?: number;
  readonly resourceVersion?: string;
  readonly selfLink?: string;
  readonly shardInfo?: ShardInfo;
};

export type ManagedFieldsEntry = {
  readonly apiVersion?: string;
  readonly fieldsType?: string;
  readonly fieldsV1?: unknown;
  readonly manager?: string;
  readonly operation?: string;
  readonly subresource?: string;
  readonly time?: string;
};

export type ObjectMeta = {
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
};

export type OwnerReference = {
  readonly apiVersion: string;
  readonly blockOwnerDeletion?: boolean;
  readonly controller?: boolean;
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
};

export type PartialObjectMetadata = {
  readonly apiVersion: "meta.k8s.io/v1";
  readonly kind: "PartialObjectMetadata";
  readonly metadata: StoredMeta;
};

export type PartialObjectMetadataList = {
  readonly apiVersion: "meta.k8s.io/v1";
  readonly items: readonly PartialObjectMetadata[];
  readonly kind: "PartialObjectMetadataList";
  readonly metadata: ListMeta;
};

export type Preconditions = {
  readonly resourceVersion?: string;
  readonly uid?: string;
};

export type ServerAddressByClientCIDR = {
  readonly clientCIDR: string;
  readonly serverAddress: string;
};

export type ShardInfo = {
  readonly selector: string;
};

export type Status = {
  readonly apiVersion: "v1";
  readonly code?: number;
  readonly details?: StatusDetails;
  readonly kind: "Status";
  readonly message?: string;
  readonly metadata: ListMeta;
  readonly reason?: string;
  readonly status?: string;
};

export type StatusCause = {
  readonly field?: string;
  readonly message?: string;
  readonly reason?: string;
};

export type StatusDetails = {
  readonly causes?: readonly StatusCause[];
  readonly group?: string;
  readonly kind?: string;
  readonly name?: string;
  readonly retryAfterSeconds?: number;
  readonly uid?: string;
};

export type WatchEvent = {
  readonly object: unknown;
  readonly type: string;
};

/** Metadata of a stored object: members that every stored object has are not optional. */
export type StoredMeta = ObjectMeta & {
  readonly creationTimestamp: string;
  readonly name: string;
  readonly resourceVersion: string;
  readonly uid: string;
};
