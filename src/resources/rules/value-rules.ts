/** Checks of single values that many kinds share, with upstream's error texts. */

import { isDeepStrictEqual } from "node:util";
import type { FieldErrors, FieldPath } from "../../api/errors/field-error.ts";
import { percentage, qualifiedName } from "../../api/values/names.ts";

const UID_MAX = 2 ** 31 - 1;

export function checkNonNegative(value: number | undefined, path: FieldPath, errors: FieldErrors): void {
  if (value !== undefined && value < 0) {
    errors.invalid(path, value, "must be greater than or equal to 0");
  }
}

/** Checks that the named number fields are not negative. */
export function checkCounts<T extends object>(
  counts: T,
  names: readonly (keyof T & string)[],
  at: { readonly path: FieldPath; readonly errors: FieldErrors },
): void {
  for (const name of names) {
    const value: unknown = counts[name];
    if (typeof value === "number") checkNonNegative(value, at.path.child(name), at.errors);
  }
}

/** Items by a text of each. If several have the same text, the first one. */
export function firstByText<T>(items: Iterable<T>, textOf: (item: T) => string): ReadonlyMap<string, T> {
  const first = new Map<string, T>();
  for (const item of items) {
    const text = textOf(item);
    if (!first.has(text)) first.set(text, item);
  }
  return first;
}

export interface Choice {
  readonly path: FieldPath;
  readonly value: string | undefined;
  /** Valid values, in the order in which the error lists them. */
  readonly among: readonly string[];
}

/** Checks a required field that has a closed set of values. */
export function checkRequiredChoice({ path, value, among }: Choice, errors: FieldErrors): void {
  if (value === undefined || value === "") errors.required(path);
  else checkChoice({ path, value, among }, errors);
}

/** Checks an optional field that has a closed set of values. */
export function checkChoice({ path, value, among }: Choice, errors: FieldErrors): void {
  if (value !== undefined && !among.includes(value)) errors.notSupported(path, value, among);
}

export function checkQualifiedName(value: string, path: FieldPath, errors: FieldErrors): void {
  errors.invalidFor(path, value, qualifiedName(value));
}

/** Users and groups have ids up to the maximum of a signed 32-bit integer. */
export function checkUserId(value: number | undefined, path: FieldPath, errors: FieldErrors): void {
  if (value === undefined || (value >= 0 && value <= UID_MAX)) return;
  errors.invalid(path, value, `must be between 0 and ${UID_MAX}, inclusive`);
}

/** Examples: `5`, `25%`. */
export type IntOrPercent = number | string;

export function checkIntOrPercent(
  value: IntOrPercent | undefined,
  path: FieldPath,
  errors: FieldErrors,
): void {
  if (typeof value === "string") errors.invalidFor(path, value, percentage(value));
  else checkNonNegative(value, path, errors);
}

export function checkAtMostAll(value: IntOrPercent | undefined, path: FieldPath, errors: FieldErrors): void {
  const percent = findPercent(value);
  if (percent !== undefined && percent > 100) errors.invalid(path, value, "must not be greater than 100%");
}

/** The number, or the number before the percent sign; zero for other texts. */
export function intOrPercentNumber(value: IntOrPercent | undefined): number {
  if (typeof value === "number") return value;
  return findPercent(value) ?? 0;
}

function findPercent(value: IntOrPercent | undefined): number | undefined {
  return typeof value === "string" && percentage(value).length === 0 ? Number(value.slice(0, -1)) : undefined;
}

/** Reports an error without its value, which would be the whole object. */
export function invalidWithoutValue(path: FieldPath, detail: string, errors: FieldErrors): void {
  errors.append([{ type: "FieldValueInvalid", field: path.toString(), body: `Invalid value: ${detail}` }]);
}

/** Equality of values in normal form; undefined equals undefined. */
export function isSame(left: unknown, right: unknown): boolean {
  return isDeepStrictEqual(left ?? undefined, right ?? undefined);
}

/** Value of an own key. Every object inherits `constructor`, which is also a valid label key. */
export function ownValue<T>(map: Readonly<Record<string, T>> | undefined, key: string): T | undefined {
  return map !== undefined && Object.hasOwn(map, key) ? map[key] : undefined;
}

/** Adds the value to the set. Returns whether it was new. */
export function addNew<T>(seen: Set<T>, value: T): boolean {
  if (seen.has(value)) return false;
  seen.add(value);
  return true;
}
