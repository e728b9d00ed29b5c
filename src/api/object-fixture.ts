/** For tests: values of an API type in which only the fields that matter to the test are set. */
import type { Unfinished } from "./api-object.ts";

/** A value with the given fields alone. The compiler checks their names and types. */
export function incomplete<T extends object>(fields: Unfinished<T>): T {
  return fields as T;
}
