/** Validates pod failure policies and success policies of a job. */

import type { FieldErrors, FieldPath } from "../../../api/errors/field-error.ts";
import type {
  JobSpec,
  PodFailurePolicyOnExitCodesRequirement,
  PodFailurePolicyOnPodConditionsPattern,
  PodFailurePolicyRule,
  SuccessPolicyRule,
} from "../../../api/generated/types/batch-v1.ts";
import { quoted } from "../../../api/values/message-text.ts";
import {
  addNew,
  checkChoice,
  checkNonNegative,
  checkQualifiedName,
  invalidWithoutValue,
} from "../../rules/value-rules.ts";
import { countIndexes, parseIndexes } from "./index-set.ts";

const RULES_MAX = 20;
const EXIT_CODES_MAX = 255;
const PATTERNS_MAX = 20;
const INDEXES_MAX_BYTES = 64 * 1024;
const ACTIONS = ["Count", "FailIndex", "FailJob", "Ignore"];
const OPERATORS = ["In", "NotIn"];
const STATUSES = ["False", "True", "Unknown"];

export function checkFailurePolicy(spec: JobSpec, path: FieldPath, errors: FieldErrors): void {
  const rules = spec.podFailurePolicy?.rules ?? [];
  const at = path.child("rules");
  if (rules.length > RULES_MAX) errors.tooMany(at, rules.length, RULES_MAX);
  const { containers, initContainers = [] } = spec.template.spec;
  const names = new Set([...containers, ...initContainers].map(({ name }) => name));
  for (const [i, rule] of rules.entries()) {
    checkAction(rule, { spec, path: at.index(i).child("action") }, errors);
    checkFailureRule(rule, { names, path: at.index(i) }, errors);
  }
}

function checkAction(
  { action }: PodFailurePolicyRule,
  { spec, path }: { readonly spec: JobSpec; readonly path: FieldPath },
  errors: FieldErrors,
): void {
  if (action !== "FailIndex") return checkListed({ path, value: action, among: ACTIONS }, errors);
  if (spec.backoffLimitPerIndex === undefined) {
    errors.invalid(path, action, "requires the backoffLimitPerIndex to be set");
  }
}

/** The error for an absent value lists the valid ones in Go's format. */
function checkListed(
  {
    path,
    value,
    among,
  }: { readonly path: FieldPath; readonly value: string; readonly among: readonly string[] },
  errors: FieldErrors,
): void {
  if (value === "") errors.required(path, `valid values: [${among.map(quoted).join(" ")}]`);
  else checkChoice({ path, value, among }, errors);
}

interface RulePlace {
  readonly path: FieldPath;
  /** Container names that a rule may use. */
  readonly names: ReadonlySet<string>;
}

function checkFailureRule(rule: PodFailurePolicyRule, { names, path }: RulePlace, errors: FieldErrors): void {
  const { onExitCodes, onPodConditions = [] } = rule;
  if (onExitCodes !== undefined) {
    checkExitCodes(onExitCodes, { names, path: path.child("onExitCodes") }, errors);
  }
  checkPatterns(onPodConditions, path.child("onPodConditions"), errors);
  const hasConditions = onPodConditions.length > 0;
  if (onExitCodes !== undefined && hasConditions) {
    invalidWithoutValue(path, "specifying both OnExitCodes and OnPodConditions is not supported", errors);
  }
  if (onExitCodes === undefined && !hasConditions) {
    invalidWithoutValue(path, "specifying one of OnExitCodes and OnPodConditions is required", errors);
  }
}

function checkExitCodes(
  requirement: PodFailurePolicyOnExitCodesRequirement,
  { names, path }: RulePlace,
  errors: FieldErrors,
): void {
  const { operator, containerName, values } = requirement;
  checkListed({ path: path.child("operator"), value: operator, among: OPERATORS }, errors);
  if (containerName !== undefined && !names.has(containerName)) {
    const problem = "must be one of the container or initContainer names in the pod template";
    errors.invalid(path.child("containerName"), containerName, problem);
  }
  const at = path.child("values");
  if (values.length === 0) errors.invalid(at, values, "at least one value is required");
  else if (values.length > EXIT_CODES_MAX) errors.tooMany(at, values.length, EXIT_CODES_MAX);
  checkExitValues({ operator, values }, at, errors);
}

function checkExitValues(
  { operator, values }: { readonly operator: string; readonly values: readonly number[] },
  path: FieldPath,
  errors: FieldErrors,
): void {
  const seen = new Set<number>();
  for (const [i, value] of values.entries()) {
    if (operator === "In" && value === 0)
      errors.invalid(path.index(i), value, "must not be 0 for the In operator");
    if (!addNew(seen, value)) errors.duplicate(path.index(i), value);
  }
  const isOrdered = values.every((value, i) => i === 0 || (values[i - 1] ?? value) <= value);
  if (!isOrdered) errors.invalid(path, values, "must be ordered");
}

function checkPatterns(
  patterns: readonly PodFailurePolicyOnPodConditionsPattern[],
  path: FieldPath,
  errors: FieldErrors,
): void {
  if (patterns.length > PATTERNS_MAX) errors.tooMany(path, patterns.length, PATTERNS_MAX);
  for (const [i, { type, status }] of patterns.entries()) {
    checkQualifiedName(type, path.index(i).child("type"), errors);
    checkListed({ path: path.index(i).child("status"), value: status, among: STATUSES }, errors);
  }
}

export function checkSuccessPolicy(spec: JobSpec, path: FieldPath, errors: FieldErrors): void {
  const rules = spec.successPolicy?.rules ?? [];
  const at = path.child("rules");
  if (rules.length === 0) {
    errors.required(at, "at least one rules must be specified when the successPolicy is specified");
  }
  if (rules.length > RULES_MAX) errors.tooMany(at, rules.length, RULES_MAX);
  for (const [i, rule] of rules.entries()) {
    checkSuccessRule(rule, { completions: spec.completions ?? 0, path: at.index(i) }, errors);
  }
}

interface SuccessPlace {
  readonly path: FieldPath;
  readonly completions: number;
}

function checkSuccessRule(rule: SuccessPolicyRule, place: SuccessPlace, errors: FieldErrors): void {
  const { succeededCount, succeededIndexes } = rule;
  if (succeededCount === undefined && succeededIndexes === undefined) {
    errors.required(place.path, "at least one of succeededCount or succeededIndexes must be specified");
  }
  const total = succeededIndexes === undefined ? undefined : checkIndexes(succeededIndexes, place, errors);
  if (succeededCount !== undefined) checkSucceededCount({ count: succeededCount, total }, place, errors);
}

/** Number of indexes; zero when they do not parse. */
function checkIndexes(text: string, { path, completions }: SuccessPlace, errors: FieldErrors): number {
  const at = path.child("succeededIndexes");
  if (text.length > INDEXES_MAX_BYTES) errors.tooLong(at, INDEXES_MAX_BYTES);
  try {
    return countIndexes(parseIndexes(text, completions));
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    errors.invalid(at, text, `error parsing succeededIndexes: ${error.message}`);
    return 0;
  }
}

function checkSucceededCount(
  { count, total }: { readonly count: number; readonly total: number | undefined },
  { path, completions }: SuccessPlace,
  errors: FieldErrors,
): void {
  const at = path.child("succeededCount");
  const limit = (most: number, of: string): string =>
    `must be less than or equal to ${most} (the number of ${of})`;
  checkNonNegative(count, at, errors);
  if (count > completions) errors.invalid(at, count, limit(completions, "specified completions"));
  if (total !== undefined && count > total) {
    errors.invalid(at, count, limit(total, "indexes in the specified succeededIndexes field"));
  }
}
