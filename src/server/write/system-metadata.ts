/**
 * Maintains the metadata that the server owns: identity, timestamps, generation. Values from clients are ignored. Owner
 * references are the client's; the server removes repeated ones.
 */
import type { JsonObject } from "../../api/json/json-object.ts";
import { stringifyJson } from "../../api/json/json-text.ts";
import { jsonEqual } from "../../api/patch/json-equal.ts";
import { timeText } from "../../api/values/time.ts";
import type { ApiObject, Draft } from "../../resources/rules/kind-rules.ts";
import type { StoredResource } from "../objects/registry.ts";

export interface NewIdentity {
  readonly uid: string;
  readonly now: number;
}

/**
 * Metadata of a new object: the client's members and the server's. The order of assignments is the normal form, so
 * that objects have few hidden classes and need no sorting.
 */
export function metadataOfNew(
  {
    annotations,
    finalizers,
    generateName,
    labels,
    managedFields,
    name,
    namespace,
    ownerReferences,
  }: Metadata,
  { storage }: StoredResource,
  { uid, now }: NewIdentity,
): Metadata {
  const made: Partial<Metadata> = {};
  if (annotations !== undefined) made.annotations = annotations;
  made.creationTimestamp = timeText(now);
  if (finalizers !== undefined) made.finalizers = finalizers;
  if (generateName !== undefined) made.generateName = generateName;
  if (storage.hasGeneration) made.generation = 1;
  if (labels !== undefined) made.labels = labels;
  if (managedFields !== undefined) made.managedFields = managedFields;
  if (name !== undefined) made.name = name;
  if (namespace !== undefined) made.namespace = namespace;
  if (ownerReferences !== undefined) made.ownerReferences = ownerReferences;
  made.uid = uid;
  return made as Metadata;
}

/**
 * Restores members that an update cannot change, in the order of the normal form. Validation reports differing
 * members that it must name. The resourceVersion is that of the replaced object; stored bytes contain none.
 */
export function carryOver(draft: Draft<ApiObject>, previous: ApiObject, deletion: "sent" | "kept"): void {
  const { metadata } = draft;
  const old = previous.metadata as Metadata;
  const next: Partial<Metadata> = {};
  put(next, "annotations", metadata.annotations);
  put(next, "creationTimestamp", old.creationTimestamp);
  // Status writes keep the deletion fields. On other endpoints validation refuses a changed value.
  const said: Partial<Metadata> = deletion === "sent" ? metadata : {};
  put(next, "deletionGracePeriodSeconds", said.deletionGracePeriodSeconds ?? old.deletionGracePeriodSeconds);
  put(next, "deletionTimestamp", said.deletionTimestamp ?? old.deletionTimestamp);
  put(next, "finalizers", metadata.finalizers);
  put(next, "generateName", metadata.generateName);
  put(next, "generation", old.generation);
  put(next, "labels", metadata.labels);
  put(next, "managedFields", metadata.managedFields);
  put(next, "name", metadata.name);
  if (old.namespace !== undefined) put(next, "namespace", metadata.namespace ?? old.namespace);
  put(next, "ownerReferences", metadata.ownerReferences);
  put(next, "resourceVersion", old.resourceVersion);
  put(next, "uid", metadata.uid ?? old.uid);
  draft.metadata = next as Metadata;
}

function put<K extends keyof Metadata>(
  metadata: Partial<Metadata>,
  key: K,
  value: Metadata[K] | undefined,
): void {
  if (value !== undefined) metadata[key] = value;
}

type Metadata = Draft<ApiObject>["metadata"];

/** Increments the generation if anything but metadata and status changed. Both objects are in normal form. */
export function withGeneration(next: ApiObject, previous: ApiObject, resource: StoredResource): ApiObject {
  if (!resource.storage.hasGeneration) return next;
  const isNew = resource.rules.isNewGeneration?.(next, previous) ?? false;
  if (!isNew && isSameContent(next, previous)) return next;
  const generation = (previous.metadata.generation ?? 0) + 1;
  return { ...next, metadata: { ...next.metadata, generation } };
}

function isSameContent(next: JsonObject, previous: JsonObject): boolean {
  for (const key in next) if (!isSameMember(key, next, previous)) return false;
  for (const key in previous) if (!isSameMember(key, next, previous)) return false;
  return true;
}

function isSameMember(key: string, next: JsonObject, previous: JsonObject): boolean {
  return key === "metadata" || key === "status" || jsonEqual(next[key], previous[key]);
}

interface Owned {
  readonly object: ApiObject;
  readonly warnings: readonly string[];
}

/** Owner references are repeated only if all members are equal. Others may differ in meaning. */
export function withoutRepeatedOwners(
  object: ApiObject,
  { isPatched }: { readonly isPatched: boolean },
): Owned {
  const owners = object.metadata?.ownerReferences;
  if (owners === undefined || owners.length < 2) return { object, warnings: [] };
  const seen = new Set<string>();
  const repeated: string[] = [];
  const ownerReferences = owners.filter((owner) => {
    // In normal form, equal owner references have equal texts.
    const text = stringifyJson(owner);
    if (!seen.has(text)) return seen.add(text);
    repeated.push(owner.uid);
    return false;
  });
  if (repeated.length === 0) return { object, warnings: [] };
  // Upstream checks the result of a patch later than a sent object, and its warning says so.
  const when = isPatched ? " after mutating admission happens" : "";
  const warning =
    `.metadata.ownerReferences contains duplicate entries${when}; API server dedups owner references in 1.20+, ` +
    `and may reject such requests as early as 1.24; please fix your requests; duplicate UID(s) observed: ${repeated.join(", ")}`;
  return { object: { ...object, metadata: { ...object.metadata, ownerReferences } }, warnings: [warning] };
}
