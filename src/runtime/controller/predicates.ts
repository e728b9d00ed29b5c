/** Which changes are worth a look (`ControllerDefinition.when`). Objects that are new or gone always are. */
import type { ApiObject } from "../../api/api-object.ts";
import { jsonEqual } from "../../api/patch/json-equal.ts";
import type { ObjectChange } from "../cache/object-change.ts";

export type Predicate<T extends ApiObject = ApiObject> = (change: ObjectChange<T>) => boolean;

/** The spec has changed, or its deletion has begun. Changes of status, labels and annotations are passed over. */
export const generationChanged: Predicate = ({ before, after }) =>
  before === undefined ||
  after === undefined ||
  before.metadata.uid !== after.metadata.uid ||
  before.metadata.generation !== after.metadata.generation ||
  before.metadata.deletionTimestamp !== after.metadata.deletionTimestamp;

export const labelsChanged: Predicate = metadataChanged("labels");

export const annotationsChanged: Predicate = metadataChanged("annotations");

export function anyOf<T extends ApiObject>(...predicates: readonly Predicate<T>[]): Predicate<T> {
  return (change) => predicates.some((predicate) => predicate(change));
}

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
