/** Validates a list: its size, its items, and that their keys are unique. */

import type { FieldErrors, FieldPath } from "../../api/errors/field-error.ts";
import { addNew } from "../rules/value-rules.ts";

interface ListRules<T> {
  readonly path: FieldPath;
  readonly max: number;
  readonly check: (item: T, path: FieldPath) => void;
  /** Key that must be unique in the list; absent for lists that may hold duplicates. */
  readonly keyOf?: (item: T) => string;
}

/** Reports only the size of a list above the limit, to bound the number of errors. */
export function checkList<T>(
  list: readonly T[],
  { path, max, check, keyOf }: ListRules<T>,
  errors: FieldErrors,
): void {
  if (list.length > max) {
    errors.tooMany(path, list.length, max);
    return;
  }
  for (const [i, item] of list.entries()) check(item, path.index(i));
  if (keyOf === undefined) return;
  const keys = new Set<string>();
  for (const [i, item] of list.entries()) {
    if (!addNew(keys, keyOf(item))) errors.duplicate(path.index(i), keyOf(item));
  }
}
