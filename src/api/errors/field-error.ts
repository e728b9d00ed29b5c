/**
 * Collects the validation errors of an object's fields, so that a client sees all of them in one response. Messages
 * equal upstream's, because clients and tests match them.
 */

import { isDeepStrictEqual } from "node:util";
import { stringifyAsGo } from "../json/json-text.ts";
import { quoted } from "../values/message-text.ts";

export type FieldErrorType =
  | "FieldValueNotFound"
  | "FieldValueRequired"
  | "FieldValueDuplicate"
  | "FieldValueInvalid"
  | "FieldValueNotSupported"
  | "FieldValueForbidden"
  | "FieldValueTooLong"
  | "FieldValueTooShort"
  | "FieldValueTooMany"
  | "FieldValueTooFew"
  | "FieldValueTypeInvalid"
  | "InternalError";

export interface FieldError {
  readonly type: FieldErrorType;
  /** Path of the field: `spec.containers[0].ports[1]`. */
  readonly field: string;
  /** Message without the field's path; the message of the cause in a Status. */
  readonly body: string;
}

/** Text that begins the body of each type of error. */
const TITLES: Readonly<Record<FieldErrorType, string>> = {
  FieldValueNotFound: "Not found",
  FieldValueRequired: "Required value",
  FieldValueDuplicate: "Duplicate value",
  FieldValueInvalid: "Invalid value",
  FieldValueNotSupported: "Unsupported value",
  FieldValueForbidden: "Forbidden",
  FieldValueTooLong: "Too long",
  FieldValueTooShort: "Too short",
  FieldValueTooMany: "Too many",
  FieldValueTooFew: "Too few",
  FieldValueTypeInvalid: "Invalid value",
  InternalError: "Internal error",
};

/**
 * Path of a field. Immutable: every step returns a new path. `fieldPath("spec").child("ports").index(1)` is
 * `spec.ports[1]`.
 */
export class FieldPath {
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  child(...names: readonly string[]): FieldPath {
    // Fast path: nearly all calls pass one name, and each object causes dozens of calls.
    const added = names.length === 1 ? (names[0] ?? "") : names.join(".");
    return new FieldPath(this.#text === "" ? added : `${this.#text}.${added}`);
  }

  index(position: number): FieldPath {
    return new FieldPath(`${this.#text}[${position}]`);
  }

  key(name: string): FieldPath {
    return new FieldPath(`${this.#text}[${name}]`);
  }

  toString(): string {
    return this.#text;
  }
}

/** A path that begins at the object itself. */
export function fieldPath(...names: readonly string[]): FieldPath {
  return new FieldPath(names.join("."));
}

/** Example: `spec.replicas: Required value`. */
export function fieldErrorText(error: FieldError): string {
  return `${error.field}: ${error.body}`;
}

/**
 * The message for all errors: a single text as it is, several in brackets. Duplicates are dropped. Empty if there are
 * no errors.
 */
export function fieldErrorsText(errors: readonly FieldError[]): string {
  const texts = [...new Set(errors.map(fieldErrorText))];
  return texts.length === 1 ? texts.join("") : texts.length === 0 ? "" : `[${texts.join(", ")}]`;
}

/**
 * Upper bound for the characters of all collected errors. Without it, a list of bad items, each reported with the whole
 * list, would make a response of gigabytes. The first error is collected whatever its length.
 */
const TOLD_MAX = 256 * 1024;

/**
 * Collects field errors in the order found, up to a limit. It has one method for each of upstream's error types, so it
 * exceeds the usual number of methods. A path may be given as text.
 */
export class FieldErrors {
  readonly #found: FieldError[] = [];
  readonly #whenFull: "count" | "stop";
  #toldLength = 0;
  #count = 0;
  #kept: FieldErrors | undefined;

  /**
   * With `stop`, the first error over the limit throws and ends the validation. Only `collectFieldErrors` catches it.
   */
  constructor(whenFull: "count" | "stop" = "count") {
    this.#whenFull = whenFull;
  }

  get found(): readonly FieldError[] {
    return this.#found;
  }

  get isEmpty(): boolean {
    return this.#count === 0;
  }

  /** True if errors over the limit were dropped from `found`. */
  get isCut(): boolean {
    return this.#count > this.#found.length;
  }

  /** Number of all errors, including the dropped ones. */
  get count(): number {
    return this.#count;
  }

  /** Collects errors of values that a write leaves as they were. The write succeeds with a warning for each. */
  get kept(): FieldErrors {
    return (this.#kept ??= new FieldErrors());
  }

  get keptTexts(): readonly string[] {
    return this.#kept?.found.map(fieldErrorText) ?? [];
  }

  append(errors: Iterable<FieldError>): void {
    for (const error of errors) {
      this.#count += 1;
      if (!this.#isFull) this.#push(error);
      else if (this.#whenFull === "stop") throw new ErrorsFull();
    }
  }

  required(path: FieldPath | string, detail = ""): void {
    this.#add("FieldValueRequired", path, () => detail);
  }

  forbidden(path: FieldPath | string, detail: string): void {
    this.#add("FieldValueForbidden", path, () => detail);
  }

  invalid(path: FieldPath | string, value: unknown, detail: string): void {
    this.#add("FieldValueInvalid", path, () => withValue(value, detail));
  }

  /** Adds one error for each message of a name rule. */
  invalidFor(path: FieldPath | string, value: unknown, messages: readonly string[]): void {
    for (const message of messages) this.invalid(path, value, message);
  }

  /** Adds `field is immutable` unless both values are equal. Absent equals null. */
  immutable(path: FieldPath | string, next: unknown, previous: unknown): void {
    if (isDeepStrictEqual(next ?? undefined, previous ?? undefined)) return;
    this.invalid(path, next, "field is immutable");
  }

  typeInvalid(path: FieldPath | string, value: unknown, detail: string): void {
    this.#add("FieldValueTypeInvalid", path, () => withValue(value, detail));
  }

  /** The message lists the supported values in the given order. */
  notSupported(path: FieldPath | string, value: unknown, supported: readonly string[]): void {
    const detail = supported.length === 0 ? "" : `supported values: ${supported.map(quoted).join(", ")}`;
    this.#add("FieldValueNotSupported", path, () => withValue(value, detail));
  }

  duplicate(path: FieldPath | string, value: unknown): void {
    this.#add("FieldValueDuplicate", path, () => withValue(value, ""));
  }

  notFound(path: FieldPath | string, value: unknown): void {
    this.#add("FieldValueNotFound", path, () => valueText(value));
  }

  tooLong(path: FieldPath | string, maxBytes: number): void {
    this.#add(
      "FieldValueTooLong",
      path,
      () => `may not be more than ${maxBytes} ${plural("byte", maxBytes)}`,
    );
  }

  tooLongCharacters(path: FieldPath | string, maxCharacters: number): void {
    const unit = plural("character", maxCharacters);
    this.#add("FieldValueTooLong", path, () => `may not be more than ${maxCharacters} ${unit}`);
  }

  tooShort(path: FieldPath | string, minCharacters: number): void {
    const unit = plural("character", minCharacters);
    this.#add("FieldValueTooShort", path, () => `must be at least ${minCharacters} ${unit}`);
  }

  tooMany(path: FieldPath | string, count: number, max: number): void {
    this.#add("FieldValueTooMany", path, () =>
      withValue(count, `must have at most ${max} ${plural("item", max)}`),
    );
  }

  tooFew(path: FieldPath | string, count: number, min: number): void {
    this.#add("FieldValueTooFew", path, () =>
      withValue(count, `must have at least ${min} ${plural("item", min)}`),
    );
  }

  internal(path: FieldPath | string, error: Error): void {
    this.#add("InternalError", path, () => error.message);
  }

  get #isFull(): boolean {
    return this.#toldLength >= TOLD_MAX;
  }

  /** The text of a dropped error is not built: values may be long. */
  #add(type: FieldErrorType, path: FieldPath | string, textOf: () => string): void {
    this.#count += 1;
    if (this.#isFull) {
      if (this.#whenFull === "stop") throw new ErrorsFull();
      return;
    }
    const rest = textOf();
    const body = rest === "" ? TITLES[type] : `${TITLES[type]}: ${rest}`;
    this.#push({ type, field: path.toString(), body });
  }

  #push(error: FieldError): void {
    this.#toldLength += error.field.length + error.body.length;
    this.#found.push(error);
  }
}

/** Ends a validation once the limit is reached. */
class ErrorsFull extends Error {
  constructor() {
    super("the limit of collected errors is reached");
  }
}

/** The errors that `validate` finds. It stops `validate` once the limit is reached. */
export function collectFieldErrors(validate: (errors: FieldErrors) => void): FieldErrors {
  const errors = new FieldErrors("stop");
  try {
    validate(errors);
  } catch (error) {
    if (!(error instanceof ErrorsFull)) throw error;
  }
  return errors;
}

function plural(unit: string, count: number): string {
  return count === 1 ? unit : `${unit}s`;
}

/** Replaces the value of an error whose message omits the value. */
export const OMIT_VALUE = Symbol("omitted");

function withValue(value: unknown, detail: string): string {
  if (value === OMIT_VALUE) return detail;
  return detail === "" ? valueText(value) : `${valueText(value)}: ${detail}`;
}

/** Strings as Go quotes them, other values as JSON; an absent value reads `null`, as Go's nil pointer. */
function valueText(value: unknown): string {
  return typeof value === "string" ? quoted(value) : stringifyAsGo(value);
}
