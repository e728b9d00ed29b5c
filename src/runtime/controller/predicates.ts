/**
 * Predicates for `ControllerDefinition.when`: they select the changes that trigger a pass. New and deleted objects
 * always do.
 */
import type { ApiObject } from "../../api/api-object.ts";
import { jsonEqual } from "../../api/patch/json-equal.ts";
import type { ObjectChange } from "../cache/object-change.ts";

/** True when a change should trigger a pass. */
export type Predicate<T extends ApiObject = ApiObject> = (change: ObjectChange<T>) => boolean;

/** True when the spec changed or the deletion started. Ignores changes of status, labels and annotations. */
export const generationChanged: Predicate = ({ before, after }) =>
  before === undefined ||
  after === undefined ||
  before.metadata.uid !== after.metadata.uid ||
  before.metadata.generation !== after.metadata.generation ||
  before.metadata.deletionTimestamp !== after.metadata.deletionTimestamp;

/** True when the labels changed. */
export const labelsChanged: Predicate = metadataChanged("labels");

/** True when the annotations changed. */
export const annotationsChanged: Predicate = metadataChanged("annotations");

/** True when at least one predicate is. */
export function anyOf<T extends ApiObject>(...predicates: readonly Predicate<T>[]): Predicate<T> {
  return (change) => predicates.some((predicate) => predicate(change));
}

/** True when all predicates are. */
export function allOf<T extends ApiObject>(...predicates: readonly Predicate<T>[]): Predicate<T> {
  return (change) => predicates.every((predicate) => predicate(change));
}

function metadataChanged(field: "labels" | "annotations"): Predicate {
  return ({ before, after }) =>
    before === undefined ||
    after === undefined ||
    before.metadata.uid !== after.metadata.uid ||
    !jsonEqual(before.metadata[field] ?? {}, after.metadata[field] ?? {});
}
