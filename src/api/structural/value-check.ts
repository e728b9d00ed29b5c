/**
 * Validates a value against its structural schema, with upstream's error texts. An unchanged value is not validated, because
 * stored objects outlive schema changes (validation ratcheting).
 */
import type { FieldErrors } from "../errors/field-error.ts";
import { FieldErrors as Collected } from "../errors/field-error.ts";
import { hasFormat } from "../formats/formats.ts";
import { isJsonObject, type JsonObject } from "../json/json-object.ts";
import { stringifyJson } from "../json/json-text.ts";
import { jsonEqual } from "../patch/json-equal.ts";
import { quoted } from "../values/message-text.ts";
import { TooLargeError } from "../work-budget.ts";
import { itemKey } from "./list-key.ts";
import { isOutOfRange, isTooLarge, isTooSmall, isUneven, numberFormat } from "./number-rules.ts";
import type { Structural, ValueRules } from "./structural.ts";
import { isUnchanged } from "./unchanged.ts";

/** Path of a value, such as `spec.ports[0].name`; empty for the object itself. */
type Path = string;

export interface CheckedValue {
  readonly schema: Structural;
  readonly value: unknown;
  /** Previous value in the same place; `undefined` when there was none or it is unknown. */
  readonly previous?: unknown;
}

/**
 * Upper bound of compared alternatives. Each item of a list is compared with each alternative. A long list and a long schema
 * would take too long for one request.
 */
const ATTEMPTS_MAX = 500_000;

interface Attempts {
  left: number;
}

/** Reports the errors of a value. Throws a TooLargeError when there are too many alternatives to compare. */
export function checkValue({ schema, value, previous }: CheckedValue, path: Path, errors: FieldErrors): void {
  new ValueCheck(errors, { left: ATTEMPTS_MAX }).check(schema, { value, previous, path });
}

interface Place {
  readonly value: unknown;
  readonly previous: unknown;
  readonly path: Path;
}

class ValueCheck {
  readonly errors: FieldErrors;
  /** Number of matching parts. When all alternatives fail, the one with the most matches is reported. */
  matches = 0;

  readonly #attempts: Attempts;

  constructor(errors: FieldErrors, attempts: Attempts) {
    this.errors = errors;
    this.#attempts = attempts;
  }

  check(schema: Structural, place: Place): void {
    const { value, previous } = place;
    if (previous !== undefined && isUnchanged(schema, value, previous)) return;
    this.#type(schema, place);
    this.#enum(schema.rules, place);
    if (value === null) return;
    this.#branches(schema.rules, place);
    if (typeof value === "string") this.#text(schema, value, place.path);
    else if (typeof value === "number" || typeof value === "bigint") this.#number(schema, value, place);
    else if (Array.isArray(value)) this.#list(schema, value, place);
    else if (isJsonObject(value)) this.#object(schema, value, place);
  }

  #type({ types, isNullable }: Structural, { value, path }: Place): void {
    if (types.length === 0) return;
    const found = typeName(value);
    const isFitting =
      value === null
        ? isNullable
        : types.includes(found) || (found === "integer" && types.includes("number"));
    if (isFitting) this.matches += 1;
    else
      this.errors.typeInvalid(
        fieldOf(path),
        found,
        says(path, `must be of type ${types.join(",")}: "${found}"`),
      );
  }

  #enum({ enum: allowed }: ValueRules, { value, path }: Place): void {
    if (allowed === undefined || allowed.length === 0) return;
    if (typeof value === "object") this.#charge(allowed.length);
    if (isAmong(allowed, value)) return;
    const texts = allowed.map((item) => (typeof item === "string" ? item : stringifyJson(item)));
    this.errors.notSupported(fieldOf(path), value, texts);
  }

  #text({ rules, types }: Structural, value: string, path: Path): void {
    const { minLength, maxLength, pattern, format } = rules;
    // As upstream, only the first of these three mistakes is reported.
    if (maxLength !== undefined && lengthOf(value) > maxLength) this.errors.tooLong(fieldOf(path), maxLength);
    else if (minLength !== undefined && lengthOf(value) < minLength)
      this.#invalid(path, value, `should be at least ${minLength} chars long`);
    else if (pattern?.isFoundIn(value) === false)
      this.#invalid(path, value, `should match '${pattern.source}'`);
    // Formats of numbers do not apply to texts.
    const isText = types.length === 0 || types.includes("string");
    if (isText && !hasFormat(format, value))
      this.errors.typeInvalid(
        fieldOf(path),
        value,
        says(path, `must be of type ${format}: ${quoted(value)}`),
      );
  }

  #number({ rules, types }: Structural, value: number | bigint, { path }: Place): void {
    const format = numberFormat(types, rules.format);
    if (isOutOfRange(types, format, value)) {
      const named = format === "" ? "(default format)" : `with format ${format}`;
      this.#composite(`Checked value must be of type ${types.join(",")} ${named} in ${path}`);
    }
    if (isUneven(rules, value))
      this.#invalid(path, value, `should be a multiple of ${rules.multipleOf ?? 0}`);
    if (isTooLarge(rules, value)) {
      const bound = rules.isBelowMaximum ? "less than" : "less than or equal to";
      this.#invalid(path, value, `should be ${bound} ${rules.maximum ?? 0}`);
    }
    if (isTooSmall(rules, value)) {
      const bound = rules.isAboveMinimum ? "greater than" : "greater than or equal to";
      this.#invalid(path, value, `should be ${bound} ${rules.minimum ?? 0}`);
    }
  }

  #list(schema: Structural, value: readonly unknown[], { previous, path }: Place): void {
    const { minItems, maxItems } = schema.rules;
    if (minItems !== undefined && value.length < minItems)
      this.#invalid(path, value.length, `should have at least ${minItems} items`);
    if (maxItems !== undefined && value.length > maxItems)
      this.errors.tooMany(fieldOf(path), value.length, maxItems);
    if (schema.items === undefined) return;
    const before = itemsByKey(schema, previous);
    for (const [at, item] of value.entries()) {
      const old = before?.get(itemKey(schema, item));
      this.check(schema.items, { value: item, previous: old, path: `${path}[${at}]` });
    }
  }

  #object(schema: Structural, value: JsonObject, { previous, path }: Place): void {
    this.#countProperties(schema.rules, Object.keys(value).length, path);
    const before = isJsonObject(previous) ? previous : undefined;
    for (const key of Object.keys(value)) {
      const inner = schema.properties.get(key) ?? schema.additional;
      const old = before !== undefined && Object.hasOwn(before, key) ? before[key] : undefined;
      const place = { value: value[key], previous: old, path: path === "" ? key : `${path}.${key}` };
      if (typeof inner === "object") this.check(inner, place);
      else if (inner === false)
        this.errors.invalid(fieldOf(path), key, `${path}.${key} in body is a forbidden property`);
    }
    for (const name of schema.rules.required) {
      if (!Object.hasOwn(value, name)) this.errors.required(path === "" ? name : `${path}.${name}`);
    }
  }

  #countProperties({ minProperties, maxProperties }: ValueRules, count: number, path: Path): void {
    if (minProperties !== undefined && count < minProperties)
      this.#invalid(path, count, `should have at least ${minProperties} properties`);
    if (maxProperties !== undefined && count > maxProperties)
      this.errors.tooMany(fieldOf(path), count, maxProperties);
  }

  #branches({ anyOf, oneOf, allOf, not }: ValueRules, place: Place): void {
    const { path } = place;
    if (anyOf.length > 0) {
      const tried = anyOf.map((schema) => this.#attempt(schema, place));
      if (!tried.some(isGood)) this.#none(`"${path}" must validate at least one schema (anyOf)`, tried);
    }
    if (oneOf.length > 0) this.#onlyOne(oneOf, place);
    if (allOf.length > 0) this.#all(allOf, place);
    if (not !== undefined && isGood(this.#attempt(not, place)))
      this.#composite(`"${path}" must not validate the schema (not)`);
  }

  #onlyOne(schemas: readonly Structural[], place: Place): void {
    const tried = schemas.map((schema) => this.#attempt(schema, place));
    const count = tried.filter(isGood).length;
    if (count === 1) return;
    const found = count === 0 ? "Found none valid" : `Found ${count} valid alternatives`;
    const text = `"${place.path}" must validate one and only one schema (oneOf). ${found}`;
    if (count === 0) this.#none(text, tried);
    else this.#composite(text);
  }

  #all(schemas: readonly Structural[], place: Place): void {
    const tried = schemas.map((schema) => this.#attempt(schema, place));
    const bad = tried.filter((attempted) => !isGood(attempted));
    for (const { errors } of bad) this.errors.append(errors.found);
    if (bad.length === 0) return;
    const none = bad.length === tried.length ? ". None validated" : "";
    this.#composite(`"${place.path}" must validate all the schemas (allOf)${none}`);
  }

  /** Reports that no alternative matches, with the errors of the nearest one. The first one wins a tie. */
  #none(text: string, tried: readonly ValueCheck[]): void {
    this.#composite(text);
    let nearest: ValueCheck | undefined;
    for (const attempted of tried) {
      if (nearest === undefined || attempted.matches > nearest.matches) nearest = attempted;
    }
    if (nearest !== undefined) this.errors.append(nearest.errors.found);
  }

  #charge(attempts: number): void {
    this.#attempts.left -= attempts;
    if (this.#attempts.left < 0)
      throw new TooLargeError(`more than ${ATTEMPTS_MAX} values and alternatives of the schema to compare`);
  }

  #attempt(schema: Structural, place: Place): ValueCheck {
    this.#charge(1);
    const check = new ValueCheck(new Collected(), this.#attempts);
    check.check(schema, { ...place, previous: undefined });
    return check;
  }

  /** Reports an error without a field, as upstream does for these. */
  #composite(text: string): void {
    this.errors.invalid("<nil>", "", text);
  }

  #invalid(path: Path, value: unknown, what: string): void {
    this.errors.invalid(fieldOf(path), value, says(path, what));
  }
}

/** Least size of an enum that is indexed; below it a linear search is faster. */
const LONG_ENUM = 16;
const enumTexts = new WeakMap<readonly unknown[], ReadonlySet<unknown>>();

function isAmong(allowed: readonly unknown[], value: unknown): boolean {
  if (typeof value === "object" || allowed.length < LONG_ENUM)
    return allowed.some((item) => jsonEqual(item, value));
  const known = enumTexts.get(allowed) ?? new Set(allowed);
  enumTexts.set(allowed, known);
  return known.has(value);
}

function isGood({ errors }: ValueCheck): boolean {
  return errors.isEmpty;
}

function itemsByKey(schema: Structural, previous: unknown): ReadonlyMap<string, unknown> | undefined {
  if (schema.listType !== "map" || !Array.isArray(previous)) return undefined;
  return new Map(previous.map((item) => [itemKey(schema, item), item]));
}

/** Length in characters, as Go counts them. */
function lengthOf(text: string): number {
  let length = 0;
  for (const _ of text) length += 1;
  return length;
}

function says(path: Path, what: string): string {
  return `${path} in body ${what}`;
}

function fieldOf(path: Path): string {
  return path === "" ? "<nil>" : path;
}

/** JSON type name as in the schema language. */
function typeName(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "array";
  // A number beyond 2^53 that is not a bigint was written as a fraction, or is beyond 2^63.
  if (typeof value === "bigint" || Number.isSafeInteger(value)) return "integer";
  return typeof value;
}
