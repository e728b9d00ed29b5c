/** Lists that hold everything once, and not too much of it. */

import type { FieldErrors, FieldPath } from "../../api/errors/field-error.ts";
import { addNew } from "../rules/value-rules.ts";

interface ListRules<T> {
  readonly path: FieldPath;
  readonly max: number;
  readonly check: (item: T, path: FieldPath) => void;
  /** What no two items may have in common; left out where they may have everything. */
  readonly keyOf?: (item: T) => string;
}

/** Of a list that is too long nothing else is told: there would be too much of it. */
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
