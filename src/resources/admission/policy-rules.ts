/** What validating and mutating admission policies have in common. Expressions are not compiled here. */

import { type FieldErrors, type FieldPath, fieldPath } from "../../api/field-error.ts";
import type {
  MatchResources,
  MutatingAdmissionPolicySpec,
  ParamKind,
  ParamRef,
  ValidatingAdmissionPolicySpec,
  Variable,
} from "../../api/generated/types/admissionregistration-v1.ts";
import { validateLabelSelector } from "../../api/label-selector.ts";
import { cIdentifier, dns1123Label, dns1123Subdomain, pathSegmentName } from "../../api/names.ts";
import type { Draft } from "../kind-rules.ts";
import { addNew, checkChoice } from "../value-rules.ts";
import { selectorText } from "../workload-cells.ts";
import { checkConditions, checkMatch, matchDefaults } from "./rule-rules.ts";

export const SPEC = fieldPath("spec");

type PolicySpec = Pick<
  ValidatingAdmissionPolicySpec | MutatingAdmissionPolicySpec,
  "failurePolicy" | "matchConstraints" | "matchConditions" | "paramKind" | "variables"
>;

export function policyDefaults(spec: Draft<PolicySpec>): void {
  spec.failurePolicy ??= "Fail";
  matchDefaults(spec.matchConstraints);
}

export function checkPolicySpec(spec: PolicySpec, errors: FieldErrors): void {
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

export function paramRefText(param: ParamRef | undefined): string {
  if (param === undefined) return "<unset>";
  const { name, namespace, selector } = param;
  if (name === undefined) return selectorText(selector);
  return namespace === undefined ? name : `${namespace}/${name}`;
}
