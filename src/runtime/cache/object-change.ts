import type { ApiObject } from "../../api/api-object.ts";

/** One object's change in a cache. */
export interface ObjectChange<T extends ApiObject> {
  /** Undefined when it is new to the cache. */
  readonly before: T | undefined;
  /** Undefined when it is gone. */
  readonly after: T | undefined;
}
