/** The part of metadata that the server keeps: identity, times, generation. Clients' values for it never count. */
import { jsonEqual } from "../../api/patch/json-equal.ts";
import type { ApiObject, Draft } from "../../resources/kind-rules.ts";
import type { StoredResource } from "../registry.ts";

export interface Birth {
  readonly uid: string;
  readonly now: number;
}

export function setAtBirth(draft: Draft<ApiObject>, resource: StoredResource, { uid, now }: Birth): void {
  const { metadata } = draft;
  metadata.uid = uid;
  metadata.creationTimestamp = timeText(now);
  delete metadata.resourceVersion;
  delete metadata.deletionTimestamp;
  delete metadata.deletionGracePeriodSeconds;
  delete metadata.selfLink;
  if (resource.storage.hasGeneration) metadata.generation = 1;
  else delete metadata.generation;
}

/** Keeps what an update cannot change. What must not be different is found by validation, so that it can be named. */
export function carryOver(draft: Draft<ApiObject>, previous: ApiObject): void {
  const { metadata } = draft;
  for (const key of KEPT) keep(metadata, previous.metadata, key);
  for (const key of KEPT_UNLESS_GIVEN)
    if (metadata[key] === undefined) keep(metadata, previous.metadata, key);
  delete metadata.selfLink;
}

/** The resourceVersion is that of the object it replaces; stored bytes carry none. */
const KEPT = [
  "creationTimestamp",
  "generation",
  "deletionTimestamp",
  "deletionGracePeriodSeconds",
  "resourceVersion",
] as const;
const KEPT_UNLESS_GIVEN = ["uid", "namespace"] as const;

function keep<K extends keyof Metadata>(metadata: Metadata, old: Readonly<Metadata>, key: K): void {
  const value = old[key];
  if (value === undefined) delete metadata[key];
  else metadata[key] = value;
}

type Metadata = Pick<
  Draft<ApiObject>["metadata"],
  (typeof KEPT)[number] | (typeof KEPT_UNLESS_GIVEN)[number]
>;

/** A new generation begins when anything but metadata and status changed. Both objects are in normal form. */
export function withGeneration(next: ApiObject, previous: ApiObject, resource: StoredResource): ApiObject {
  if (!resource.storage.hasGeneration) return next;
  const isNew = resource.rules.isNewGeneration?.(next, previous) ?? false;
  if (!isNew && jsonEqual(bare(next), bare(previous))) return next;
  const generation = (previous.metadata.generation ?? 0) + 1;
  return { ...next, metadata: { ...next.metadata, generation } };
}

function bare(object: ApiObject): Record<string, unknown> {
  return { ...object, metadata: undefined, status: undefined };
}

/** RFC 3339 in whole seconds, as Kubernetes writes times. */
export function timeText(now: number): string {
  const second = Math.floor(now / 1000);
  if (second !== latest.second) latest = { second, text: `${new Date(now).toISOString().slice(0, 19)}Z` };
  return latest.text;
}

/** Almost every write asks for the same second as the one before. */
let latest = { second: Number.NaN, text: "" };
