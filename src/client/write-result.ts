/** Derives from a response what a write, or a read of one object, did. */
import type { ApiObject, ObjectKey, ResourceType } from "../api/api-object.ts";
import { isApiError } from "../api/errors/api-error.ts";
import { isJsonObject } from "../api/json/json-object.ts";
import type { DeleteOptions, WriteResult } from "./client.ts";

/** Undefined when the response is not an object of the kind, for example a Status or a Scale. */
export function findWriteResult(type: ResourceType, value: unknown): WriteResult | undefined {
  if (!isObjectOf(type, value)) return undefined;
  return { type, object: value, outcome: isFinished(value) ? "deleted" : "stored" };
}

/** Undefined when the response is not an object of the kind, for example its metadata alone. */
export function findReadResult(type: ResourceType, value: unknown): WriteResult | undefined {
  return isObjectOf(type, value) ? { type, object: value, outcome: "stored" } : undefined;
}

/**
 * A server returns a Status once the object is gone, and the object while it still exists. For some kinds it returns
 * the object even when it is gone.
 */
export function deleteResult(type: ResourceType, place: DeleteTarget, value: unknown): WriteResult {
  if (!isObjectOf(type, value)) return { type, object: lastState(type, place, value), outcome: "deleted" };
  const isGone = value.metadata.deletionTimestamp === undefined || isFinished(value);
  return { type, object: value, outcome: isGone ? "deleted" : "marked" };
}

/**
 * Undefined unless the error certainly concerns this object: the kind may be gone, or only the object's name may be
 * known.
 */
export function findNotFoundResult(
  type: ResourceType,
  known: ApiObject | undefined,
  error: unknown,
): WriteResult | undefined {
  if (known?.metadata.uid === undefined || !isApiError(error, "NotFound")) return undefined;
  return error.details?.name === known.metadata.name ? { type, object: known, outcome: "absent" } : undefined;
}

/**
 * The response has the objects as they were before the deletion. Pods stay for their grace period; owners stay if the
 * policy says so.
 */
export function deleteCollectionResults(
  type: ResourceType,
  items: readonly ApiObject[],
  policy: DeleteOptions["propagationPolicy"],
): readonly WriteResult[] {
  const stay = type.kind === "Pod" || policy === "Foreground" || policy === "Orphan";
  const isHeld = (object: ApiObject): boolean => stay || hasFinalizer(object);
  return items.map((object) => ({ type, object, outcome: isHeld(object) ? "marked" : "deleted" }));
}

export interface DeleteTarget {
  readonly key: ObjectKey;
  /** The object, if the caller passed it. */
  readonly known: ApiObject | undefined;
}

function lastState(type: ResourceType, { key, known }: DeleteTarget, status: unknown): ApiObject {
  if (known !== undefined) return known;
  const details = isJsonObject(status) && isJsonObject(status["details"]) ? status["details"] : {};
  const { uid } = details;
  const { namespace = "", name } = key;
  return {
    apiVersion: type.apiVersion,
    kind: type.kind,
    metadata: {
      name,
      ...(namespace !== "" && { namespace }),
      ...(typeof uid === "string" && uid !== "" && { uid }),
    },
  };
}

/** True for a write that removed the last reason to keep a deleted object, which ends it. */
function isFinished(object: ApiObject): boolean {
  const { deletionTimestamp, deletionGracePeriodSeconds = 0 } = object.metadata;
  return deletionTimestamp !== undefined && deletionGracePeriodSeconds === 0 && !hasFinalizer(object);
}

/** Namespaces have finalizers in their spec too. */
function hasFinalizer(object: ApiObject): boolean {
  const { spec } = object as { readonly spec?: { readonly finalizers?: readonly unknown[] } };
  const ofSpec = object.kind === "Namespace" ? (spec?.finalizers ?? []) : [];
  return (object.metadata.finalizers ?? []).length + ofSpec.length > 0;
}

function isObjectOf({ apiVersion, kind }: ResourceType, value: unknown): value is ApiObject {
  return isJsonObject(value) && value["kind"] === kind && value["apiVersion"] === apiVersion;
}
