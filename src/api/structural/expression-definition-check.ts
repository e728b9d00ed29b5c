/** Whether the rules in CEL of a schema can be run, asked when a definition is written and its texts are in order. */
import type { FieldErrors, FieldPath } from "../field-error.ts";
import type { ValidationRule } from "../generated/types/apiextensions-v1.ts";
import { type Compiled, type Expression, expressionsOf } from "./expression-rules.ts";
import { cardinalityOf } from "./expression-size.ts";
import { findRulePath } from "./rule-path.ts";
import type { Structural } from "./structural.ts";

interface Place {
  readonly path: FieldPath;
  readonly level: "root" | "part";
  /** The list in which nobody can tell what an item was before. */
  readonly uncorrelated: FieldPath | undefined;
  readonly errors: FieldErrors;
  /** How many such values an object may have; undefined when the schema does not say. */
  readonly cardinality: number | undefined;
  /** What was estimated so far. */
  readonly costs: RuleCost[];
}

/** As upstream's, for one expression and for all of a schema. */
const RULE_COST_MAX = 10_000_000;
const SCHEMA_COST_MAX = 100_000_000;
/**
 * Of all expressions of a schema. Upstream has no such bound; compiling what a whole object can hold would keep everybody else waiting for
 * seconds.
 */
const CHARACTERS_MAX = 100_000;
/** How many of the dearest rules are named when all together cost too much, as upstream does. */
const DEAREST = 4;

export function checkExpressionDefinitions(schema: Structural, path: FieldPath, errors: FieldErrors): void {
  if (charactersOf(schema) > CHARACTERS_MAX)
    return errors.forbidden(
      path,
      `x-kubernetes-validations must not have more than ${CHARACTERS_MAX} characters in all rules and messageExpressions`,
    );
  const costs: RuleCost[] = [];
  checkNode(schema, { path, level: "root", uncorrelated: undefined, errors, cardinality: 1, costs });
  checkTotal(costs, path, errors);
}

function charactersOf(schema: Structural): number {
  if (!schema.hasExpressions) return 0;
  let count = 0;
  for (const { rule, messageExpression = "" } of schema.expressions)
    count += rule.length + messageExpression.length;
  for (const property of schema.properties.values()) count += charactersOf(property);
  if (schema.items !== undefined) count += charactersOf(schema.items);
  return typeof schema.additional === "object" ? count + charactersOf(schema.additional) : count;
}

interface RuleCost {
  readonly path: FieldPath;
  readonly cost: number;
}

function checkTotal(costs: readonly RuleCost[], path: FieldPath, errors: FieldErrors): void {
  let total = 0;
  for (const { cost } of costs) total += cost;
  if (total <= SCHEMA_COST_MAX) return;
  const dearest = costs.toSorted((left, right) => right.cost - left.cost).slice(0, DEAREST);
  for (const { path: rule } of dearest)
    errors.forbidden(
      rule,
      "contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema",
    );
  const what = "x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema";
  errors.forbidden(path, costText(what, total, SCHEMA_COST_MAX));
}

function costText(what: string, cost: number, max: number): string {
  const excess = cost / max;
  const factor =
    excess > 100 ? "more than 100x" : excess < 1.5 ? `${excess.toFixed(6)}x` : `${excess.toFixed(1)}x`;
  return `${what} exceeds budget by factor of ${factor} (try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are declared)`;
}

function checkNode(schema: Structural, place: Place): void {
  if (!schema.hasExpressions) return;
  const { path } = place;
  checkRules(schema, place);
  const inner: Place = { ...place, level: "part" };
  const uncorrelated = place.uncorrelated ?? (schema.listType === "map" ? undefined : path);
  const { maxItems, maxProperties } = schema.rules;
  if (schema.items !== undefined) {
    const cardinality = times(place.cardinality, maxItems);
    checkNode(schema.items, { ...inner, path: path.child("items"), uncorrelated, cardinality });
  }
  if (typeof schema.additional === "object") {
    const cardinality = times(place.cardinality, maxProperties);
    checkNode(schema.additional, { ...inner, path: path.child("additionalProperties"), cardinality });
  }
  for (const [name, property] of schema.properties)
    checkNode(property, { ...inner, path: path.child("properties").key(name) });
}

function times(count: number | undefined, max: number | undefined): number | undefined {
  return count === undefined || max === undefined ? undefined : count * max;
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
    } else {
      const cardinality = place.cardinality ?? cardinalityOf(schema);
      checkCost(expression.program, { ...place, path: path.child("rule") }, { what: "rule", cardinality });
      checkExpression(expression, { ...place, path });
    }
  }
}

function checkCost(
  compiled: Compiled,
  { path, errors, costs }: Place,
  { what, cardinality }: { readonly what: string; readonly cardinality: number },
): void {
  if ("mistake" in compiled) return;
  const cost = compiled.program.estimate() * cardinality;
  costs.push({ path, cost });
  if (cost > RULE_COST_MAX) errors.forbidden(path, costText(`estimated ${what} cost`, cost, RULE_COST_MAX));
}

function checkFieldPath(
  { fieldPath = "" }: ValidationRule,
  schema: Structural,
  { path, errors }: Pick<Place, "path" | "errors">,
): void {
  if (fieldPath === "") return;
  if (fieldPath.trim() === "") errors.invalid(path, fieldPath, "must be non-empty if specified");
  if (fieldPath.includes("\n")) errors.invalid(path, fieldPath, "must not contain line breaks");
  if (findRulePath(fieldPath, schema) === undefined) errors.invalid(path, fieldPath, "must be a valid path");
}

function checkExpression({ rule, program, message, isTransition }: Expression, place: Place): void {
  const { path, uncorrelated, errors } = place;
  checkCompiled(program, rule, { path: path.child("rule"), errors });
  if (message !== undefined) {
    const at = { ...place, path: path.child("messageExpression") };
    checkCompiled(message, rule, at);
    checkCost(message, at, { what: "messageExpression", cardinality: 1 });
  }
  if (!isTransition && rule.optionalOldSelf !== undefined)
    errors.invalid(
      path.child("optionalOldSelf"),
      rule.optionalOldSelf,
      "may not be set if oldSelf is not used in rule",
    );
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
