/** Checks of single values that many kinds share, in upstream's words. */

import { isDeepStrictEqual } from "node:util";
import type { FieldErrors, FieldPath } from "../../api/errors/field-error.ts";
import { percentage, qualifiedName } from "../../api/values/names.ts";

const UID_MAX = 2 ** 31 - 1;

export function checkNonNegative(value: number | undefined, path: FieldPath, errors: FieldErrors): void {
  if (value !== undefined && value < 0) {
    errors.invalid(path, value, "must be greater than or equal to 0");
  }
}

/** The number fields of `counts` that are named; each must not be negative. */
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

/** The items by a text of theirs. Of several with the same text, the first. */
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
  /** Listed in this order when the value is none of them. */
  readonly among: readonly string[];
}

/** A field that must have one of some values; absent is refused too. */
export function checkRequiredChoice({ path, value, among }: Choice, errors: FieldErrors): void {
  if (value === undefined || value === "") errors.required(path);
  else checkChoice({ path, value, among }, errors);
}

/** A field that may be left out and else must have one of some values. */
export function checkChoice({ path, value, among }: Choice, errors: FieldErrors): void {
  if (value !== undefined && !among.includes(value)) errors.notSupported(path, value, among);
}

export function checkQualifiedName(value: string, path: FieldPath, errors: FieldErrors): void {
  errors.invalidFor(path, value, qualifiedName(value));
}

/** Users and groups have the numbers of a signed 32-bit integer. */
export function checkUserId(value: number | undefined, path: FieldPath, errors: FieldErrors): void {
  if (value === undefined || (value >= 0 && value <= UID_MAX)) return;
  errors.invalid(path, value, `must be between 0 and ${UID_MAX}, inclusive`);
}

/** `5` or `25%`. */
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

/** The number before the percent sign, or the number itself; zero when it is neither. */
export function intOrPercentNumber(value: IntOrPercent | undefined): number {
  if (typeof value === "number") return value;
  return findPercent(value) ?? 0;
}

function findPercent(value: IntOrPercent | undefined): number | undefined {
  return typeof value === "string" && percentage(value).length === 0 ? Number(value.slice(0, -1)) : undefined;
}

/** An error that shows no value, because the whole object would be it. */
export function invalidWithoutValue(path: FieldPath, detail: string, errors: FieldErrors): void {
  errors.append([{ type: "FieldValueInvalid", field: path.toString(), body: `Invalid value: ${detail}` }]);
}

/** Objects in normal form mean the same exactly when they are equal; absent is equal to absent. */
export function isSame(left: unknown, right: unknown): boolean {
  return isDeepStrictEqual(left ?? undefined, right ?? undefined);
}

/** The value of a map's own key: every object inherits a `constructor`, and that is a good name for a label. */
export function ownValue<T>(map: Readonly<Record<string, T>> | undefined, key: string): T | undefined {
  return map !== undefined && Object.hasOwn(map, key) ? map[key] : undefined;
}

/** Adds the value unless it is there already; says whether it was new. */
export function addNew<T>(seen: Set<T>, value: T): boolean {
  if (seen.has(value)) return false;
  seen.add(value);
  return true;
}
