import type { ApiObject } from "../../api/api-object.ts";

/** Change of one object in a cache. */
export interface ObjectChange<T extends ApiObject> {
  /** Previous state; undefined when the object is new. */
  readonly before: T | undefined;
  /** New state; undefined when the object is deleted. */
  readonly after: T | undefined;
}
