/** Defaults and validation that validating and mutating webhooks share. */

import { type FieldErrors, type FieldPath, fieldPath } from "../../api/errors/field-error.ts";
import type {
  MutatingWebhook,
  ValidatingWebhook,
} from "../../api/generated/types/admissionregistration-v1.ts";
import { validateLabelSelector } from "../../api/selectors/label-selector.ts";
import { dns1035Label, dns1123Subdomain } from "../../api/values/names.ts";
import type { Draft } from "../rules/kind-rules.ts";
import { addNew, checkChoice } from "../rules/value-rules.ts";
import { compileMatchCondition } from "./match-condition.ts";
import { checkConditions, CONDITIONS_MAX, checkRule, ruleDefaults } from "./match-resource-rules.ts";
import { checkClientConfig } from "./webhook-client.ts";

type Webhook = MutatingWebhook | ValidatingWebhook;

const WEBHOOKS = fieldPath("webhooks");
const KNOWN_REVIEWS = ["v1", "v1beta1"];
const SECONDS_MAX = 30;

export function webhookDefaults(hook: Draft<Webhook>): void {
  hook.failurePolicy ??= "Fail";
  hook.matchPolicy ??= "Equivalent";
  hook.namespaceSelector ??= {};
  hook.objectSelector ??= {};
  hook.timeoutSeconds ??= 10;
  ruleDefaults(hook.rules);
  if (hook.clientConfig.service !== undefined) hook.clientConfig.service.port ??= 443;
}

/**
 * Upper bound of the characters in all expressions of a configuration; upstream has none. Compiling runs on
 * the server's one thread, so that an unbounded object would delay all other requests.
 */
const EXPRESSIONS_MAX = 200_000;

export function checkWebhooks(hooks: readonly Webhook[], errors: FieldErrors): void {
  const names = new Set<string>();
  const conditions = hooks.flatMap(({ matchConditions = [] }) => matchConditions);
  const isTooLong = conditions.map(({ expression }) => expression).join("").length > EXPRESSIONS_MAX;
  if (isTooLong) errors.tooLongCharacters(WEBHOOKS, EXPRESSIONS_MAX);
  for (const [i, hook] of hooks.entries()) {
    const path = WEBHOOKS.index(i);
    checkWebhook(hook, path, errors);
    if (!isTooLong) checkExpressions(hook, path.child("matchConditions"), errors);
    if (!addNew(names, hook.name)) errors.duplicate(path.child("name"), hook.name);
  }
}

function checkWebhook(hook: Webhook, path: FieldPath, errors: FieldErrors): void {
  checkFullName(hook.name, path.child("name"), errors);
  checkReviewVersions(hook.admissionReviewVersions, path.child("admissionReviewVersions"), errors);
  for (const [i, rule] of (hook.rules ?? []).entries()) checkRule(rule, path.child("rules").index(i), errors);
  checkChoice(
    { path: path.child("failurePolicy"), value: hook.failurePolicy, among: ["Fail", "Ignore"] },
    errors,
  );
  checkChoice(
    { path: path.child("matchPolicy"), value: hook.matchPolicy, among: ["Equivalent", "Exact"] },
    errors,
  );
  checkSideEffects(hook, path.child("sideEffects"), errors);
  const { timeoutSeconds: seconds = 1 } = hook;
  if (seconds < 1 || seconds > SECONDS_MAX) {
    const detail = `the timeout value must be between 1 and ${SECONDS_MAX} seconds`;
    errors.invalid(path.child("timeoutSeconds"), seconds, detail);
  }
  for (const field of ["namespaceSelector", "objectSelector"] as const) {
    const selector = hook[field];
    if (selector !== undefined) validateLabelSelector(selector, path.child(field), errors);
  }
  checkClientConfig(hook.clientConfig, path.child("clientConfig"), errors);
  checkConditions(hook.matchConditions ?? [], path.child("matchConditions"), errors);
  if (!("reinvocationPolicy" in hook)) return;
  const value = hook.reinvocationPolicy;
  checkChoice({ path: path.child("reinvocationPolicy"), value, among: ["IfNeeded", "Never"] }, errors);
}

function checkExpressions({ matchConditions = [] }: Webhook, path: FieldPath, errors: FieldErrors): void {
  for (const [i, { expression }] of matchConditions.slice(0, CONDITIONS_MAX).entries()) {
    const compiled = expression.trim() === "" ? undefined : compileMatchCondition(expression.trim());
    if (compiled === undefined || "program" in compiled) continue;
    errors.invalid(path.index(i).child("expression"), expression.trim(), compiled.mistake);
  }
}

/** The server sends dry runs only to webhooks that declare no side effects. */
function checkSideEffects(hook: Webhook, path: FieldPath, errors: FieldErrors): void {
  const { sideEffects }: Partial<Webhook> = hook;
  if (sideEffects === undefined) errors.required(path, "must specify one of None, NoneOnDryRun");
  else checkChoice({ path, value: sideEffects, among: ["None", "NoneOnDryRun"] }, errors);
}

function checkFullName(name: string, path: FieldPath, errors: FieldErrors): void {
  const problems = dns1123Subdomain(name);
  if (name === "") errors.required(path);
  else if (problems.length > 0) errors.invalid(path, name, problems.join(","));
  else if (name.split(".").length < 3) {
    errors.invalid(path, name, "should be a domain with at least three segments separated by dots");
  }
}

function checkReviewVersions(versions: readonly string[], path: FieldPath, errors: FieldErrors): void {
  if (versions.length === 0) {
    errors.required(path, `must specify one of ${KNOWN_REVIEWS.join(", ")}`);
    return;
  }
  const seen = new Set<string>();
  for (const [i, version] of versions.entries()) {
    if (!addNew(seen, version)) errors.invalid(path.index(i), version, "duplicate version");
    errors.invalidFor(path.index(i), version, dns1035Label(version));
  }
  if (versions.some((version) => KNOWN_REVIEWS.includes(version))) return;
  errors.invalid(path, versions, `must include at least one of ${KNOWN_REVIEWS.join(", ")}`);
}
