/** Checks that the items of sets and of lists with keys are unique. */
import type { FieldErrors, FieldPath } from "../errors/field-error.ts";
import { isJsonObject } from "../json/json-object.ts";
import { jsonEqual } from "../patch/json-equal.ts";
import { itemKey, keyOf } from "./list-key.ts";
import type { Structural } from "./structural.ts";
import type { CheckedValue } from "./value-check.ts";

/** Checks all lists in a value, except those unchanged from before. */
export function checkLists(
  { schema, value, previous }: CheckedValue,
  path: FieldPath,
  errors: FieldErrors,
): void {
  if (previous !== undefined && jsonEqual(value, previous)) return;
  if (Array.isArray(value)) return checkList({ schema, value, previous }, path, errors);
  if (!isJsonObject(value)) return;
  const before = isJsonObject(previous) ? previous : {};
  for (const key of Object.keys(value)) {
    const property = schema.properties.get(key);
    const inner = property ?? schema.additional;
    if (typeof inner !== "object") continue;
    const old = Object.hasOwn(before, key) ? before[key] : undefined;
    const place = property === undefined ? path.key(key) : path.child(key);
    checkLists({ schema: inner, value: value[key], previous: old }, place, errors);
  }
}

interface CheckedList extends CheckedValue {
  readonly value: readonly unknown[];
}

function checkList({ schema, value }: CheckedList, path: FieldPath, errors: FieldErrors): void {
  if (schema.listType === "map") {
    const at = value.findIndex((item) => item !== null && !isJsonObject(item));
    if (at >= 0)
      return errors.invalid(path.index(at), value[at], "must be an object for an array of list-type map");
  }
  if (schema.listType !== "atomic") checkUnique(schema, value, { path, errors });
  if (schema.items === undefined) return;
  for (const [at, item] of value.entries())
    checkLists({ schema: schema.items, value: item }, path.index(at), errors);
}

interface Report {
  readonly path: FieldPath;
  readonly errors: FieldErrors;
}

/** Reports the first duplicate of each item. */
function checkUnique(schema: Structural, value: readonly unknown[], { path, errors }: Report): void {
  const times = new Map<string, number>();
  for (const [at, item] of value.entries()) {
    const key = itemKey(schema, item);
    const seen = times.get(key) ?? 0;
    times.set(key, seen + 1);
    if (seen === 1) errors.duplicate(path.index(at), keyOf(schema, item));
  }
}
