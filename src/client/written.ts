/** What a write came to, as far as its answer tells. */
import type { ApiObject, ObjectKey, ResourceType } from "../api/api-object.ts";
import { isApiError } from "../api/errors/api-error.ts";
import { isJsonObject } from "../api/json/json-object.ts";
import type { DeleteOptions, Written } from "./client.ts";

/** Undefined when the answer is no object of the kind: a Status, a Scale. */
export function findWritten(type: ResourceType, value: unknown): Written | undefined {
  if (!isObjectOf(type, value)) return undefined;
  return { type, object: value, outcome: isFinished(value) ? "deleted" : "stored" };
}

/** Undefined when the answer is no object of the kind: its metadata alone. */
export function findRead(type: ResourceType, value: unknown): Written | undefined {
  return isObjectOf(type, value) ? { type, object: value, outcome: "stored" } : undefined;
}

/** Servers answer with a Status once the object is gone; with the object when it stays for a while, and some kinds also when it is gone. */
export function writtenByDelete(type: ResourceType, place: DeletedPlace, value: unknown): Written {
  if (!isObjectOf(type, value)) return { type, object: lastState(type, place, value), outcome: "deleted" };
  const isGone = value.metadata.deletionTimestamp === undefined || isFinished(value);
  return { type, object: value, outcome: isGone ? "deleted" : "marked" };
}

/** Undefined when it is not known to be about this very object: the kind may be gone, or the object be known by its name alone. */
export function findAbsent(
  type: ResourceType,
  known: ApiObject | undefined,
  error: unknown,
): Written | undefined {
  if (known?.metadata.uid === undefined || !isApiError(error, "NotFound")) return undefined;
  return error.details?.name === known.metadata.name ? { type, object: known, outcome: "absent" } : undefined;
}

/** The objects of an answer to the deletion of many are as they were before. Pods stay for their grace period, owners for what the policy says. */
export function writtenByDeleteCollection(
  type: ResourceType,
  items: readonly ApiObject[],
  policy: DeleteOptions["propagationPolicy"],
): readonly Written[] {
  const stay = type.kind === "Pod" || policy === "Foreground" || policy === "Orphan";
  const isHeld = (object: ApiObject): boolean => stay || hasFinalizer(object);
  return items.map((object) => ({ type, object, outcome: isHeld(object) ? "marked" : "deleted" }));
}

export interface DeletedPlace {
  readonly key: ObjectKey;
  /** The object, where the caller had it. */
  readonly known: ApiObject | undefined;
}

function lastState(type: ResourceType, { key, known }: DeletedPlace, status: unknown): ApiObject {
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

/** A write that takes away the last thing that held an object is its end. */
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
