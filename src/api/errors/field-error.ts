/**
 * What is wrong with the fields of an object, collected so that a client sees all of it at once.
 * Texts are equal to upstream's: clients, tests and people match them.
 */

import { isDeepStrictEqual } from "node:util";
import { jsonText, quoted } from "../values/message-text.ts";

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
  /** As `spec.containers[0].ports[1]`. */
  readonly field: string;
  /** What is wrong, without the field: the message of a cause in a Status. */
  readonly body: string;
}

/** The words that stand for a type at the start of a body. */
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

/** Where a field is. Immutable: every step makes a new path. `fieldPath("spec").child("ports").index(1)` is `spec.ports[1]`. */
export class FieldPath {
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  child(...names: readonly string[]): FieldPath {
    // Mostly one, and made by the dozen for every object.
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

/** `spec.replicas: Required value` */
export function fieldErrorText(error: FieldError): string {
  return `${error.field}: ${error.body}`;
}

/** One text for all: alone as it is, several in brackets, no text twice; empty when there is none. */
export function fieldErrorsText(errors: readonly FieldError[]): string {
  const texts = [...new Set(errors.map(fieldErrorText))];
  return texts.length === 1 ? texts.join("") : texts.length === 0 ? "" : `[${texts.join(", ")}]`;
}

/**
 * How much is told, in characters of all errors: more than anybody reads. Without it a list of bad items, each of which is told with the whole
 * list, makes an answer of gigabytes. The first error is told whatever its length.
 */
const TOLD_MAX = 256 * 1024;

/**
 * Collects field errors in the order found, as many as there is room for. One method for each kind of mistake (there are more than a class
 * should have, because upstream has that many); a path may be given as text.
 */
export class FieldErrors {
  readonly #found: FieldError[] = [];
  readonly #whenFull: "count" | "stop";
  #toldLength = 0;
  #count = 0;

  /** With `stop`, an error for which there is no room ends the validation: only `collectFieldErrors` may ask for that. */
  constructor(whenFull: "count" | "stop" = "count") {
    this.#whenFull = whenFull;
  }

  get found(): readonly FieldError[] {
    return this.#found;
  }

  get isEmpty(): boolean {
    return this.#count === 0;
  }

  /** Whether there were more errors than are in `found`. */
  get isCut(): boolean {
    return this.#count > this.#found.length;
  }

  /** How many there are, told or not. */
  get count(): number {
    return this.#count;
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

  /** One error for each message, as the checks of names return them. */
  invalidFor(path: FieldPath | string, value: unknown, messages: readonly string[]): void {
    for (const message of messages) this.invalid(path, value, message);
  }

  /** `field is immutable`, unless both values mean the same; absent and null are the same. */
  immutable(path: FieldPath | string, next: unknown, previous: unknown): void {
    if (isDeepStrictEqual(next ?? undefined, previous ?? undefined)) return;
    this.invalid(path, next, "field is immutable");
  }

  typeInvalid(path: FieldPath | string, value: unknown, detail: string): void {
    this.#add("FieldValueTypeInvalid", path, () => withValue(value, detail));
  }

  /** The supported values are listed in the order given. */
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

  /** What is not told any more is not written either: values may be long. */
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

/** Ends a validation whose further errors would not be told. */
class ErrorsFull extends Error {
  constructor() {
    super("there are more errors than are told");
  }
}

/** The errors that `validate` finds. It does not run to its end when there are more than fit into an answer. */
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

/** Stands for a value that an error is about and does not show. */
export const UNTOLD = Symbol("untold");

function withValue(value: unknown, detail: string): string {
  if (value === UNTOLD) return detail;
  return detail === "" ? valueText(value) : `${valueText(value)}: ${detail}`;
}

/** Strings as Go quotes them, everything else as JSON; what is absent reads as Go's nil pointer. */
function valueText(value: unknown): string {
  return typeof value === "string" ? quoted(value) : jsonText(value);
}
