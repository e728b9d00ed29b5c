/** Defaults and validation that validating and mutating admission policies share. */

import { type FieldErrors, type FieldPath, fieldPath } from "../../api/errors/field-error.ts";
import type {
  MatchResources,
  MutatingAdmissionPolicySpec,
  ParamKind,
  ParamRef,
  ValidatingAdmissionPolicySpec,
  Variable,
} from "../../api/generated/types/admissionregistration-v1.ts";
import type { LabelSelector } from "../../api/generated/types/meta-v1.ts";
import { validateLabelSelector } from "../../api/selectors/label-selector.ts";
import { cIdentifier, dns1123Label, dns1123Subdomain, pathSegmentName } from "../../api/values/names.ts";
import type { Draft } from "../rules/kind-rules.ts";
import { addNew, checkChoice } from "../rules/value-rules.ts";
import { checkConditions, checkMatch, matchDefaults } from "./match-resource-rules.ts";
import {
  PolicyEnvironment,
  type PolicyProgram,
  EXPRESSION_RESULTS,
  type ExpressionResult,
} from "./policy-environment.ts";

export const SPEC = fieldPath("spec");

type PolicySpec = Pick<
  ValidatingAdmissionPolicySpec | MutatingAdmissionPolicySpec,
  "failurePolicy" | "matchConstraints" | "matchConditions" | "paramKind" | "variables"
>;

export function policyDefaults(spec: Draft<PolicySpec>): void {
  spec.failurePolicy ??= "Fail";
  matchDefaults(spec.matchConstraints);
}

/**
 * Upper bound of the characters in all expressions of a policy: upstream's limit for a single expression.
 * Compiling runs on the server's one thread, so that an unbounded object would delay all other requests.
 */
const EXPRESSIONS_MAX = 100_000;

/** Compiles the expressions of one policy one at a time and records their errors. */
export class ExpressionCheck {
  readonly #environment: PolicyEnvironment;
  readonly #conditions: PolicyEnvironment;
  readonly #errors: FieldErrors;
  #length = 0;

  constructor({ paramKind }: PolicySpec, makesPatches: boolean, errors: FieldErrors) {
    const hasParams = paramKind !== undefined;
    this.#environment = new PolicyEnvironment({ hasParams, hasVariables: true, makesPatches });
    this.#conditions = new PolicyEnvironment({ hasParams, hasVariables: false });
    this.#errors = errors;
  }

  /** Blank expressions are reported by another check. */
  check(source: string, wanted: ExpressionResult, path: FieldPath): void {
    this.#report(source, path, () => this.#environment.compile(source, wanted));
  }

  condition(source: string, path: FieldPath): void {
    this.#report(source, path, () => this.#conditions.compile(source, EXPRESSION_RESULTS.condition));
  }

  variable(name: string, source: string, path: FieldPath): void {
    this.#report(source, path, () => this.#environment.define(name, source));
  }

  #report(source: string, path: FieldPath, compile: () => PolicyProgram): void {
    if (source.trim() === "") return;
    const before = this.#length;
    this.#length += source.length;
    if (this.#length > EXPRESSIONS_MAX) {
      if (before <= EXPRESSIONS_MAX) this.#errors.tooLongCharacters(path, EXPRESSIONS_MAX);
      return;
    }
    const compiled = compile();
    if ("mistake" in compiled) this.#errors.invalid(path, source, compiled.mistake);
  }
}

/** Returns the compiler so that callers can check further expressions of the policy. */
export function checkPolicySpec(
  spec: PolicySpec,
  makes: "decisions" | "patches",
  errors: FieldErrors,
): ExpressionCheck {
  const { failurePolicy, matchConstraints, paramKind } = spec;
  checkChoice({ path: SPEC.child("failurePolicy"), value: failurePolicy, among: ["Fail", "Ignore"] }, errors);
  if (paramKind !== undefined) checkParamKind(paramKind, SPEC.child("paramKind"), errors);
  const path = SPEC.child("matchConstraints");
  if (matchConstraints === undefined) {
    errors.required(path);
  } else {
    checkMatch(matchConstraints, path, errors);
    if ((matchConstraints.resourceRules ?? []).length === 0) errors.required(path.child("resourceRules"));
  }
  checkConditions(spec.matchConditions ?? [], SPEC.child("matchConditions"), errors);
  checkVariables(spec.variables ?? [], errors);
  const expressions = new ExpressionCheck(spec, makes === "patches", errors);
  for (const [i, { expression }] of (spec.matchConditions ?? []).entries())
    expressions.condition(expression, SPEC.child("matchConditions").index(i).child("expression"));
  for (const [i, { name, expression }] of (spec.variables ?? []).entries())
    expressions.variable(name, expression, SPEC.child("variables").index(i).child("expression"));
  return expressions;
}

function checkParamKind(
  { apiVersion = "", kind = "" }: ParamKind,
  path: FieldPath,
  errors: FieldErrors,
): void {
  if (apiVersion === "") errors.required(path.child("apiVersion"));
  else if (apiVersion.split("/").length > 2) {
    errors.invalid(path.child("apiVersion"), apiVersion, `unexpected GroupVersion string: ${apiVersion}`);
  }
  if (kind === "") errors.required(path.child("kind"));
  else errors.invalidFor(path.child("kind"), kind, dns1123Label(kind.toLowerCase()));
}

function checkVariables(variables: readonly Variable[], errors: FieldErrors): void {
  const names = new Set<string>();
  for (const [i, { name, expression }] of variables.entries()) {
    const path = SPEC.child("variables").index(i);
    if (name === "") errors.required(path.child("name"), "name is not specified");
    else {
      errors.invalidFor(path.child("name"), name, cIdentifier(name));
      if (!addNew(names, name)) errors.duplicate(path.child("name"), name);
    }
    if (expression.trim() === "") errors.required(path.child("expression"), "expression is not specified");
  }
}

export function paramKindText(kind: ParamKind | undefined): string {
  return kind === undefined ? "<unset>" : `${kind.apiVersion ?? ""}/${kind.kind ?? ""}`;
}

interface BindingSpec {
  readonly policyName?: string;
  readonly paramRef?: ParamRef;
  readonly matchResources?: MatchResources;
}

export function bindingDefaults({ paramRef, matchResources }: Draft<BindingSpec>): void {
  matchDefaults(matchResources);
  if (paramRef !== undefined) paramRef.parameterNotFoundAction ??= "Deny";
}

export function checkBindingSpec(
  { policyName = "", paramRef, matchResources }: BindingSpec,
  errors: FieldErrors,
): void {
  if (policyName === "") errors.required(SPEC.child("policyName"));
  else errors.invalidFor(SPEC.child("policyName"), policyName, dns1123Subdomain(policyName));
  if (paramRef !== undefined) checkParamRef(paramRef, SPEC.child("paramRef"), errors);
  if (matchResources !== undefined) checkMatch(matchResources, SPEC.child("matchResouces"), errors);
}

function checkParamRef(
  { name, selector, parameterNotFoundAction: action }: ParamRef,
  path: FieldPath,
  errors: FieldErrors,
): void {
  if (name === undefined && selector === undefined) {
    errors.required(path, "one of name or selector must be specified");
  } else if (name !== undefined && selector !== undefined) {
    errors.forbidden(path.child("name"), "name and selector are mutually exclusive");
  } else if (name !== undefined) {
    errors.invalidFor(path.child("name"), name, pathSegmentName(name));
  } else if (selector !== undefined) {
    validateLabelSelector(selector, path.child("selector"), errors);
  }
  const at = path.child("parameterNotFoundAction");
  if (action === undefined) errors.required(at);
  else checkChoice({ path: at, value: action, among: ["Allow", "Deny"] }, errors);
}

/** The scope of the parameter's kind is unknown here, so cluster-scoped parameters are shown with `*` too. */
export function paramRefText(param: ParamRef | undefined): string {
  const { name, namespace = "*", selector } = param ?? {};
  if (name !== undefined) return `${namespace}/${name}`;
  return selector === undefined ? "<unset>" : goText(selector);
}

/** Go's default text of a label selector, which upstream shows. */
function goText({ matchLabels = {}, matchExpressions = [] }: LabelSelector): string {
  const labels = Object.keys(matchLabels)
    .toSorted()
    .map((key) => `${key}: ${matchLabels[key] ?? ""},`);
  const expressions = matchExpressions.map(
    ({ key, operator, values = [] }) =>
      `LabelSelectorRequirement{Key:${key},Operator:${operator},Values:[${values.join(" ")}],},`,
  );
  return `&LabelSelector{MatchLabels:map[string]string{${labels.join("")}},MatchExpressions:[]LabelSelectorRequirement{${expressions.join("")}},}`;
}
