/**
 * Evaluates the CEL rules of a schema against a value and reports failures in upstream's words. A rule without `oldSelf` is
 * not enforced for an unchanged value, because stored objects outlive schema changes: its failure is a warning.
 */
import { Allowance, COST_MAX, Effort } from "../cel/allowance.ts";
import { CelBudgetError, CelEvaluationError } from "../cel/cel-error.ts";
import { jsonToValue } from "../cel/cel-json-value.ts";
import { type CelValue, NONE, Optional } from "../cel/value.ts";
import { type FieldErrors, type FieldPath, OMIT_VALUE } from "../errors/field-error.ts";
import type { ValidationRule } from "../generated/types/apiextensions-v1.ts";
import { isJsonObject, type JsonObject } from "../json/json-object.ts";
import { type Expression, type Expressions, expressionsOf } from "./expression-rules.ts";
import { itemKey } from "./list-key.ts";
import { findRulePath } from "./rule-path.ts";
import type { Structural } from "./structural.ts";
import { isUnchanged } from "./unchanged.ts";
import type { CheckedValue } from "./value-check.ts";

const BUDGET_SPENT =
  "validation failed due to running out of cost budget, no further validation rules will be run";
/** Upper bound of a computed message, as in upstream. */
const MESSAGE_MAX = 5 * 1024;
/** Errors that make rules meaningless. */
const BLOCKING: ReadonlySet<string> = new Set([
  "FieldValueNotSupported",
  "FieldValueRequired",
  "FieldValueTooLong",
  "FieldValueTooMany",
  "FieldValueTypeInvalid",
]);

/** Evaluates the rules. Call it after all other checks of the object, because it reads their errors. */
export function checkExpressions(checked: CheckedValue, path: FieldPath, errors: FieldErrors): void {
  const { schema, value, previous } = checked;
  if (!schema.hasExpressions) return;
  if (errors.found.some(({ type }) => BLOCKING.has(type))) {
    errors.invalid(
      "<nil>",
      null,
      "some validation rules were not checked because the object was invalid; correct the existing errors to complete validation",
    );
    return;
  }
  const place: Place = { value, previous, nearest: checked, path, level: "root" };
  new ExpressionCheck(errors).check(schema, place);
}

interface Place {
  readonly value: unknown;
  readonly previous: unknown;
  /**
   * Value to compare when the previous value is unknown: this value, or the nearest one around it with a known previous
   * value.
   */
  readonly nearest: CheckedValue | undefined;
  readonly path: FieldPath;
  readonly level: "root" | "part";
}

/** Thrown when the cost is spent, so that no further rule runs. */
class Exhausted extends Error {}

class ExpressionCheck {
  readonly #errors: FieldErrors;
  readonly #allowance = new Allowance(COST_MAX, new Effort());

  constructor(errors: FieldErrors) {
    this.#errors = errors;
  }

  check(schema: Structural, place: Place): void {
    try {
      this.#value(schema, place);
    } catch (error) {
      if (!(error instanceof Exhausted)) throw error;
    }
  }

  #value(schema: Structural, place: Place): void {
    const { value } = place;
    if (!schema.hasExpressions || value === null || value === undefined) return;
    const expressions = expressionsOf(schema, place.level);
    if (expressions !== undefined) this.#rules(expressions, schema, place);
    if (Array.isArray(value)) this.#list(schema, value, place);
    else if (isJsonObject(value)) this.#object(schema, value, place);
  }

  #object(schema: Structural, value: JsonObject, place: Place): void {
    const before = isJsonObject(place.previous) ? place.previous : {};
    for (const key of Object.keys(value)) {
      const property = schema.properties.get(key);
      const inner = property ?? schema.additional;
      if (typeof inner !== "object" || !inner.hasExpressions) continue;
      const previous = Object.hasOwn(before, key) ? before[key] : undefined;
      const path = property === undefined ? place.path.key(key) : place.path.child(key);
      const within = placeWithin(place, { schema: inner, value: value[key], previous }, path);
      this.#value(inner, isTypeName(place, key) ? { ...within, nearest: undefined } : within);
    }
  }

  #list(schema: Structural, value: readonly unknown[], place: Place): void {
    const { items } = schema;
    if (items === undefined || !items.hasExpressions) return;
    const before = itemsBefore(schema, place.previous);
    for (const [at, item] of value.entries()) {
      const previous = before?.get(itemKey(schema, item));
      this.#value(items, placeWithin(place, { schema: items, value: item, previous }, place.path.index(at)));
    }
  }

  #rules({ type, all }: Expressions, schema: Structural, place: Place): void {
    const self = jsonToValue(type, place.value);
    const isNew = place.previous === undefined || place.previous === null;
    const before = isNew ? undefined : jsonToValue(type, place.previous);
    for (const expression of all) {
      const isOptional = expression.rule.optionalOldSelf === true;
      if (expression.isTransition && isNew && !isOptional) continue;
      const oldSelf = isOptional ? (before === undefined ? NONE : new Optional(before)) : before;
      this.#rule(expression, { self, oldSelf }, { ...place, type: schema.types[0] ?? "", schema });
    }
  }

  #rule(expression: Expression, bindings: Bindings, place: RulePlace): void {
    const { rule, program } = expression;
    if ("mistake" in program)
      return this.#errors.invalid(fieldOf(place.path), place.type, `rule compile error: ${program.mistake}`);
    const result = this.#evaluate(expression, bindings, place);
    if (result === true || result === undefined) return;
    const isKept = !expression.isTransition && isSame(place.nearest);
    const detail = this.#message(expression, bindings, place) ?? messageOf(expression);
    this.#report(rule, { ...place, errors: isKept ? this.#errors.kept : this.#errors }, detail);
  }

  #report(rule: ValidationRule, place: ReportPlace, detail: string): void {
    const { errors } = place;
    const { path: field = "" } = findRulePath(rule.fieldPath ?? "", place.schema) ?? {};
    const path = fieldOf(field === "" ? place.path : place.path.child(field));
    const isLarge = place.type === "object" || place.type === "array";
    const shown = isLarge ? OMIT_VALUE : place.value;
    if (rule.reason === "FieldValueForbidden") errors.forbidden(path, detail);
    else if (rule.reason === "FieldValueRequired") errors.required(path, detail);
    else if (rule.reason === "FieldValueDuplicate") errors.duplicate(path, shown);
    else errors.invalid(path, shown, detail);
  }

  /** Evaluates a rule; `undefined` when it failed, which is reported here. */
  #evaluate(
    { rule, program }: Expression,
    bindings: Bindings,
    { path, type }: RulePlace,
  ): CelValue | undefined {
    if ("mistake" in program) return undefined;
    const text = (rule.message ?? "").trim() || rule.rule.trim();
    try {
      return this.#allowance.evaluate(program.program, bindings);
    } catch (error) {
      const detail = this.#isSpentByOthers(error) ? BUDGET_SPENT : failureText(error, text);
      if (detail === undefined) throw error;
      this.#errors.invalid(fieldOf(path), type, detail);
      if (error instanceof CelBudgetError) throw new Exhausted();
      return undefined;
    }
  }

  /** True when the budget was spent by previous rules, rather than by this one. */
  #isSpentByOthers(error: unknown): boolean {
    const { isSpent, lastShare } = this.#allowance;
    return error instanceof CelBudgetError && isSpent && lastShare < 1 / 2;
  }

  /** Text of the rule's message expression; `undefined` when it yields no valid text. */
  #message({ rule, message }: Expression, bindings: Bindings, { path, type }: RulePlace): string | undefined {
    if (message === undefined || "mistake" in message) return undefined;
    try {
      const value = this.#allowance.evaluate(message.program, bindings);
      return typeof value === "string" ? shownMessage(value) : undefined;
    } catch (error) {
      if (error instanceof CelEvaluationError) return undefined;
      if (!(error instanceof CelBudgetError)) throw error;
      const detail = this.#isSpentByOthers(error)
        ? "messageExpression evaluation failed due to running out of cost budget, no further validation rules will be run"
        : `no further validation rules will be run due to call cost exceeds limit for messageExpression: ${JSON.stringify(rule.messageExpression)}`;
      this.#errors.invalid(fieldOf(path), type, detail);
      throw new Exhausted();
    }
  }
}

type Bindings = Readonly<Record<"self" | "oldSelf", CelValue | undefined>>;

interface RulePlace extends Place {
  /** Type name as in the schema. */
  readonly type: string;
  readonly schema: Structural;
}

interface ReportPlace extends RulePlace {
  /** Where the failure is collected. */
  readonly errors: FieldErrors;
}

/** True for apiVersion and kind of the object itself. They are always checked, because the version may be new. */
function isTypeName({ level }: Place, key: string): boolean {
  return level === "root" && (key === "apiVersion" || key === "kind");
}

function placeWithin({ nearest }: Place, checked: CheckedValue, path: FieldPath): Place {
  const { value, previous } = checked;
  const isKnown = previous !== undefined && nearest?.previous !== undefined;
  return { value, previous, nearest: isKnown ? checked : nearest, path, level: "part" };
}

function isSame(checked: CheckedValue | undefined): boolean {
  return checked?.previous !== undefined && isUnchanged(checked.schema, checked.value, checked.previous);
}

/** Previous items by key. Only items of a list with keys have an identity. */
function itemsBefore(schema: Structural, previous: unknown): ReadonlyMap<string, unknown> | undefined {
  if (schema.listType !== "map" || !Array.isArray(previous)) return undefined;
  return new Map(previous.map((item) => [itemKey(schema, item), item]));
}

function fieldOf(path: FieldPath): string {
  return path.toString() === "" ? "<nil>" : path.toString();
}

function messageOf({ rule }: Expression): string {
  const message = (rule.message ?? "").trim();
  return message === "" ? `failed rule: ${rule.rule.trim()}` : message;
}

function shownMessage(text: string): string | undefined {
  const trimmed = text.trim();
  const isShown = trimmed !== "" && !trimmed.includes("\n") && Buffer.byteLength(trimmed) <= MESSAGE_MAX;
  return isShown ? trimmed : undefined;
}

/** Error text for a failed rule; `undefined` for an error that the rule did not cause. */
function failureText(error: unknown, rule: string): string | undefined {
  if (error instanceof CelBudgetError)
    return `'${error.message}': no further validation rules will be run due to call cost exceeds limit for rule: ${rule}`;
  if (!(error instanceof CelEvaluationError)) return undefined;
  return error.message.startsWith("no such overload")
    ? `'${error.message}': call arguments did not match a supported operator, function or macro signature for rule: ${rule}`
    : `${error.message} evaluating rule: ${rule}`;
}
