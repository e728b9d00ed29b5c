/** Validation of rules and match conditions: they select the requests for an admission webhook or policy. */

import { type FieldErrors, type FieldPath } from "../../api/errors/field-error.ts";
import type {
  MatchCondition,
  MatchResources,
  NamedRuleWithOperations,
} from "../../api/generated/types/admissionregistration-v1.ts";
import { validateLabelSelector } from "../../api/selectors/label-selector.ts";
import { qualifiedName } from "../../api/values/names.ts";
import type { Draft } from "../rules/kind-rules.ts";
import { addNew, checkChoice } from "../rules/value-rules.ts";

const OPERATIONS = ["*", "CONNECT", "CREATE", "DELETE", "UPDATE"];
export const CONDITIONS_MAX = 64;

export function ruleDefaults(rules: readonly Draft<NamedRuleWithOperations>[] | undefined): void {
  for (const rule of rules ?? []) rule.scope ??= "*";
}

export function matchDefaults(match: Draft<MatchResources> | undefined): void {
  if (match === undefined) return;
  match.matchPolicy ??= "Equivalent";
  match.namespaceSelector ??= {};
  match.objectSelector ??= {};
  ruleDefaults(match.resourceRules);
  ruleDefaults(match.excludeResourceRules);
}

interface Part {
  readonly list: readonly string[] | undefined;
  readonly path: FieldPath;
  /** Upstream's word for the members, used in messages. */
  readonly what: string;
}

export function checkRule(rule: NamedRuleWithOperations, path: FieldPath, errors: FieldErrors): void {
  const { operations, apiGroups, apiVersions, resources, scope } = rule;
  checkList({ list: operations, path: path.child("operations"), what: "operations" }, errors);
  for (const [i, operation] of (operations ?? []).entries()) {
    checkChoice({ path: path.child("operations").index(i), value: operation, among: OPERATIONS }, errors);
  }
  checkList({ list: apiGroups, path: path.child("apiGroups"), what: "API groups" }, errors);
  checkList({ list: apiVersions, path: path.child("apiVersions"), what: "API versions" }, errors);
  for (const [i, version] of (apiVersions ?? []).entries()) {
    if (version === "") errors.required(path.child("apiVersions").index(i));
  }
  if ((resources ?? []).length === 0) errors.required(path.child("resources"));
  for (const [i, resource] of (resources ?? []).entries()) {
    if (resource === "") errors.required(path.child("resources").index(i));
  }
  checkChoice({ path: path.child("scope"), value: scope, among: ["*", "Cluster", "Namespaced"] }, errors);
}

function checkList({ list = [], path, what }: Part, errors: FieldErrors): void {
  if (list.length === 0) errors.required(path);
  if (list.length > 1 && list.includes("*")) {
    errors.invalid(path, list, `if '*' is present, must not specify other ${what}`);
  }
}

export function checkMatch(match: MatchResources, path: FieldPath, errors: FieldErrors): void {
  checkChoice(
    { path: path.child("matchPolicy"), value: match.matchPolicy, among: ["Equivalent", "Exact"] },
    errors,
  );
  for (const field of ["namespaceSelector", "objectSelector"] as const) {
    const selector = match[field];
    if (selector === undefined) errors.required(path.child(field));
    else validateLabelSelector(selector, path.child(field), errors);
  }
  for (const field of ["resourceRules", "excludeResourceRules"] as const) {
    for (const [i, rule] of (match[field] ?? []).entries())
      checkRule(rule, path.child(field).index(i), errors);
  }
}

/** Does not compile the expressions. */
export function checkConditions(
  conditions: readonly MatchCondition[],
  path: FieldPath,
  errors: FieldErrors,
): void {
  if (conditions.length > CONDITIONS_MAX) errors.tooMany(path, conditions.length, CONDITIONS_MAX);
  const names = new Set<string>();
  for (const [i, { name, expression }] of conditions.entries()) {
    const at = path.index(i);
    if (expression.trim() === "") errors.required(at.child("expression"));
    if (name === "") errors.required(at.child("name"));
    else {
      errors.invalidFor(at.child("name"), name, qualifiedName(name));
      if (!addNew(names, name)) errors.duplicate(at.child("name"), name);
    }
  }
}
