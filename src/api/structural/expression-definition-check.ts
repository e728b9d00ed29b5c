/** Whether the rules in CEL of a schema can be run, asked when a definition is written and its texts are in order. */
import type { FieldErrors, FieldPath } from "../field-error.ts";
import type { ValidationRule } from "../generated/types/apiextensions-v1.ts";
import { type Compiled, type Expression, expressionsOf } from "./expression-rules.ts";
import { readRulePath } from "./rule-path.ts";
import type { Structural } from "./structural.ts";

interface Place {
  readonly path: FieldPath;
  readonly level: "root" | "part";
  /** The list in which nobody can tell what an item was before. */
  readonly uncorrelated: FieldPath | undefined;
  readonly errors: FieldErrors;
}

export function checkExpressionDefinitions(schema: Structural, path: FieldPath, errors: FieldErrors): void {
  checkNode(schema, { path, level: "root", uncorrelated: undefined, errors });
}

function checkNode(schema: Structural, place: Place): void {
  if (!schema.hasExpressions) return;
  const { path } = place;
  checkRules(schema, place);
  const inner: Place = { ...place, level: "part" };
  const uncorrelated = place.uncorrelated ?? (schema.listType === "map" ? undefined : path);
  if (schema.items !== undefined)
    checkNode(schema.items, { ...inner, path: path.child("items"), uncorrelated });
  if (typeof schema.additional === "object")
    checkNode(schema.additional, { ...inner, path: path.child("additionalProperties") });
  for (const [name, property] of schema.properties)
    checkNode(property, { ...inner, path: path.child("properties").key(name) });
}

function checkRules(schema: Structural, place: Place): void {
  const compiled = expressionsOf(schema, place.level);
  for (const [at, rule] of schema.expressions.entries()) {
    const path = place.path.child("x-kubernetes-validations").index(at);
    checkFieldPath(rule, schema, { path: path.child("fieldPath"), errors: place.errors });
    const expression = compiled?.all[at];
    if (expression === undefined) {
      const detail = "rules can only be set on values whose type is specified";
      place.errors.invalid(path.child("rule"), rule.rule, detail);
    } else checkExpression(expression, { ...place, path });
  }
}

function checkFieldPath(
  { fieldPath = "" }: ValidationRule,
  schema: Structural,
  { path, errors }: Pick<Place, "path" | "errors">,
): void {
  if (fieldPath === "") return;
  if (fieldPath.trim() === "")
    return errors.invalid(path, fieldPath, "fieldPath must be non-empty if specified");
  if (fieldPath.trim().includes("\n"))
    return errors.invalid(path, fieldPath, "fieldPath must not contain line breaks");
  const found = readRulePath(fieldPath, schema);
  if ("mistake" in found) errors.invalid(path, fieldPath, `fieldPath must be a valid path: ${found.mistake}`);
}

function checkExpression({ rule, program, message, isTransition }: Expression, place: Place): void {
  const { path, uncorrelated, errors } = place;
  checkCompiled(program, rule, { path: path.child("rule"), errors });
  if (message !== undefined) checkCompiled(message, rule, { path: path.child("messageExpression"), errors });
  if (isTransition && uncorrelated !== undefined)
    errors.invalid(
      path.child("rule"),
      rule.rule,
      `oldSelf cannot be used on the uncorrelatable portion of the schema within ${uncorrelated.toString()}`,
    );
}

function checkCompiled(
  compiled: Compiled,
  rule: ValidationRule,
  { path, errors }: Pick<Place, "path" | "errors">,
): void {
  if ("mistake" in compiled) errors.invalid(path, shownRule(rule), compiled.mistake);
}

/** With the names that upstream's errors show. */
function shownRule(rule: ValidationRule): object {
  return {
    Rule: rule.rule,
    Message: rule.message ?? "",
    MessageExpression: rule.messageExpression ?? "",
    Reason: rule.reason ?? null,
    FieldPath: rule.fieldPath ?? "",
    OptionalOldSelf: rule.optionalOldSelf ?? null,
  };
}
