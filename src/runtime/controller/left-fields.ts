/**
 * Fields of a child that the controller sets once and then leaves to other writers, such as the replicas of a
 * Deployment that an autoscaler scales. Paths name members of objects: `spec.replicas`.
 */
import type { ApiObject } from "../../api/api-object.ts";
import { isJsonObject, type JsonObject } from "../../api/json/json-object.ts";

/** The manifest without these fields. */
export function withoutFields<T extends JsonObject>(manifest: T, paths: readonly string[]): T {
  let rest: JsonObject = manifest;
  for (const path of paths) rest = without(rest, path.split("."));
  return rest as T;
}

/** Only these fields of the object; empty when it has none of them. */
export function onlyFields(object: ApiObject, paths: readonly string[]): JsonObject {
  let found: JsonObject = {};
  for (const path of paths) found = withValue(found, path.split("."), valueAt(object, path.split(".")));
  return found;
}

/** True when the manager has applied one of these fields. */
export function hasApplied(
  { metadata: { managedFields = [] } }: ApiObject,
  manager: string,
  paths: readonly string[],
): boolean {
  return managedFields.some(
    ({ manager: each, operation, fieldsV1 }) =>
      each === manager &&
      operation === "Apply" &&
      paths.some((path) => valueAt(fieldsV1, ownershipPath(path)) !== undefined),
  );
}

function ownershipPath(path: string): readonly string[] {
  return path.split(".").map((name) => `f:${name}`);
}

function without(object: JsonObject, [name = "", ...below]: readonly string[]): JsonObject {
  const { [name]: member, ...others } = object;
  if (below.length === 0) return others;
  return isJsonObject(member) ? { ...others, [name]: without(member, below) } : object;
}

function valueAt(value: unknown, path: readonly string[]): unknown {
  let found = value;
  for (const name of path) found = isJsonObject(found) ? found[name] : undefined;
  return found;
}

function withValue(object: JsonObject, [name = "", ...below]: readonly string[], value: unknown): JsonObject {
  if (value === undefined) return object;
  if (below.length === 0) return { ...object, [name]: value };
  const member = object[name];
  return { ...object, [name]: withValue(isJsonObject(member) ? member : {}, below, value) };
}
