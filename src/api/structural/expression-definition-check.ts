/**
 * Checks that the CEL rules of a schema compile and are affordable. It runs when a definition is written, after the checks
 * of form.
 */
import { addSaturating } from "../cel/uint64.ts";
import type { FieldErrors, FieldPath } from "../errors/field-error.ts";
import type { ValidationRule } from "../generated/types/apiextensions-v1.ts";
import { estimateRule, estimateRun } from "./expression-estimate.ts";
import { type ExpressionPlace, expressionPlaces } from "./expression-places.ts";
import { type Compiled, type Expression, expressionsOf } from "./expression-rules.ts";
import { findRulePath } from "./rule-path.ts";
import type { Structural } from "./structural.ts";

interface Place extends ExpressionPlace {
  readonly errors: FieldErrors;
  /** Estimated costs of the rules so far. */
  readonly costs: RuleCost[];
}

/** Bounds of one expression and of all in a schema, as in upstream. */
const RULE_COST_MAX = 10_000_000n;
const SCHEMA_COST_MAX = 100_000_000n;
/** Least cost of a rule that is listed among the most expensive ones. */
const NAMED_COST_MIN = SCHEMA_COST_MAX / 100n;
/**
 * Upper bound of the length of all expressions in a schema. Upstream has none. Compiling as many expressions as fit into an
 * object would delay all other requests for seconds.
 */
const CHARACTERS_MAX = 100_000;
/** Number of most expensive rules in the error about the total cost, as in upstream. */
const NAMED_RULES_MAX = 4;

export function checkExpressionDefinitions(schema: Structural, path: FieldPath, errors: FieldErrors): void {
  if (charactersOf(schema) > CHARACTERS_MAX)
    return errors.forbidden(
      path,
      `x-kubernetes-validations must not have more than ${CHARACTERS_MAX} characters in all rules and messageExpressions`,
    );
  const costs: RuleCost[] = [];
  for (const place of expressionPlaces(schema, path)) checkRules({ ...place, errors, costs });
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
  readonly cost: bigint;
}

function checkTotal(costs: readonly RuleCost[], path: FieldPath, errors: FieldErrors): void {
  let total = 0n;
  for (const { cost } of costs) total = addSaturating(total, cost);
  if (total <= SCHEMA_COST_MAX) return;
  const dearest = costs
    .filter(({ cost }) => cost >= NAMED_COST_MIN)
    .toSorted((left, right) => (left.cost > right.cost ? -1 : left.cost < right.cost ? 1 : 0))
    .slice(0, NAMED_RULES_MAX);
  for (const { path: rule } of dearest)
    errors.forbidden(
      rule,
      "contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema",
    );
  const what = "x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema";
  errors.forbidden(path, costText(what, total, SCHEMA_COST_MAX));
}

function costText(what: string, cost: bigint, max: bigint): string {
  const excess = Number(cost) / Number(max);
  const factor =
    excess > 100 ? "more than 100x" : excess < 1.5 ? `${excess.toFixed(6)}x` : `${tenths(excess)}x`;
  return `${what} exceeds budget by factor of ${factor} (try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are declared)`;
}

/** One decimal, with ties rounded to even, as in Go. */
function tenths(value: number): string {
  const isTie = Math.abs(value % 0.5) === 0.25;
  return (isTie ? Math.round(value * 5) / 5 : value).toFixed(1);
}

function checkRules(place: Place): void {
  const { schema, errors } = place;
  const compiled = expressionsOf(schema, place.level);
  for (const [at, rule] of schema.expressions.entries()) {
    const path = place.path.child("x-kubernetes-validations").index(at);
    checkFieldPath(rule, schema, { path: path.child("fieldPath"), errors });
    const expression = compiled?.all[at];
    if (expression === undefined) {
      const detail = "rules can only be set on values whose type is specified";
      errors.invalid(path.child("rule"), rule.rule, detail);
    } else checkExpression(expression, { ...place, path });
  }
}

function checkCost(cost: bigint, { path, errors, costs }: Place, what: string): void {
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
  const rulePlace = { ...place, path: path.child("rule") };
  if ("program" in program) checkCost(estimateRule(program.program, place).total, rulePlace, "rule");
  checkCompiled(program, rule, rulePlace);
  if (message !== undefined) checkMessage(message, rule, place);
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

/** Checks the message expression, which is evaluated at most once. */
function checkMessage(message: Compiled, rule: ValidationRule, place: Place): void {
  const at = { ...place, path: place.path.child("messageExpression") };
  checkCompiled(message, rule, at);
  if ("program" in message) checkCost(estimateRun(message.program, place), at, "messageExpression");
}

function checkCompiled(
  compiled: Compiled,
  rule: ValidationRule,
  { path, errors }: Pick<Place, "path" | "errors">,
): void {
  if ("mistake" in compiled) errors.invalid(path, shownRule(rule), compiled.mistake);
}

/** The rule with the field names in upstream's errors. */
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
