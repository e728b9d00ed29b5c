/** The part of metadata that the server keeps: identity, times, generation. Clients' values for it never count. */
import type { ApiObject, Draft, KindRules } from "../../resources/kind-rules.ts";
import type { StoredResource } from "../registry.ts";
import { isEqualJson } from "./json-equality.ts";

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

/** A new generation begins when anything but metadata and status changed. */
export function countGeneration(
  draft: Draft<ApiObject>,
  previous: ApiObject,
  resource: StoredResource,
): void {
  if (!resource.storage.hasGeneration) return;
  if (isSpecEqual(draft, previous) && !isNewGeneration(resource.rules, draft, previous)) return;
  draft.metadata.generation = (previous.metadata.generation ?? 0) + 1;
}

function isNewGeneration(rules: KindRules, next: ApiObject, previous: ApiObject): boolean {
  return rules.isNewGeneration?.(next, previous) ?? false;
}

function isSpecEqual(next: ApiObject, previous: ApiObject): boolean {
  return isEqualJson(bare(next), bare(previous));
}

function bare(object: ApiObject): Record<string, unknown> {
  return { ...object, metadata: undefined, status: undefined };
}

/** RFC 3339 in whole seconds, as Kubernetes writes times. */
export function timeText(now: number): string {
  return `${new Date(now).toISOString().slice(0, 19)}Z`;
}
