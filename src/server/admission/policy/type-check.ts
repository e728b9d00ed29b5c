/**
 * Type-checks the expressions of a policy against the kinds that it names. Mismatches become warnings in the policy's
 * status.
 */
import { typeOfStruct } from "../../../api/cel/schema-type.ts";
import type { CelType } from "../../../api/cel/type.ts";
import type {
  ExpressionWarning,
  NamedRuleWithOperations,
  ParamKind,
  ValidatingAdmissionPolicy,
} from "../../../api/generated/types/admissionregistration-v1.ts";
import { PolicyEnvironment } from "../../../resources/admission/policy-environment.ts";
import type { Registry, Resource } from "../../objects/registry.ts";
import { ConfigurationError, paramResource } from "./params.ts";

/** Upstream's limit of checked kinds. */
const TYPES_MAX = 10;
/**
 * Upper bound of compiled characters for one policy; further kinds are skipped, because warnings must not delay the
 * server.
 */
const CHARACTERS_MAX = 100_000;

interface Checked {
  readonly resource: Resource;
  readonly environment: PolicyEnvironment;
}

/** Empty if all expressions type-check. */
export function typeWarnings(
  policy: ValidatingAdmissionPolicy,
  registry: Registry,
): readonly ExpressionWarning[] {
  const all = environmentsOf(policy, registry);
  const warnings: ExpressionWarning[] = [];
  for (const [at, { expression, messageExpression = "" }] of (policy.spec.validations ?? []).entries()) {
    const place = `spec.validations[${at}]`;
    warnings.push(...warningsOf(expression, `${place}.expression`, all));
    if (messageExpression !== "")
      warnings.push(...warningsOf(messageExpression, `${place}.messageExpression`, all));
  }
  return warnings;
}

function warningsOf(source: string, fieldRef: string, all: readonly Checked[]): readonly ExpressionWarning[] {
  const texts = all.flatMap(({ resource, environment }) => {
    const issues = environment.findIssues(source);
    return issues === undefined ? [] : [`${kindText(resource)}: ${issues}\n`];
  });
  return texts.length === 0 ? [] : [{ fieldRef, warning: texts.join("\n") }];
}

/** The kind as Go prints it: `apps/v1, Kind=Deployment`, `/v1, Kind=Pod`. */
function kindText({ facts }: Resource): string {
  return `${facts.group}/${facts.version}, Kind=${facts.kind}`;
}

function environmentsOf(policy: ValidatingAdmissionPolicy, registry: Registry): readonly Checked[] {
  const { variables = [], paramKind } = policy.spec;
  const params = paramKind === undefined ? undefined : paramType(paramKind, registry);
  const count = Math.floor(CHARACTERS_MAX / Math.max(1, charactersOf(policy)));
  return resourcesOf(policy, registry)
    .slice(0, count)
    .map((resource) => {
      const environment = new PolicyEnvironment({
        hasParams: paramKind !== undefined,
        hasVariables: true,
        object: typeOfStruct(resource.schema),
        ...(params !== undefined && { params }),
      });
      for (const { name, expression } of variables) environment.define(name, expression);
      return { resource, environment };
    });
}

function charactersOf({ spec }: ValidatingAdmissionPolicy): number {
  const sources = [
    ...(spec.variables ?? []).map(({ expression }) => expression),
    ...(spec.validations ?? []).flatMap((it) => [it.expression, it.messageExpression ?? ""]),
  ];
  return sources.join("").length;
}

function paramType(kind: ParamKind, registry: Registry): CelType | undefined {
  try {
    return typeOfStruct(paramResource(kind, registry).schema);
  } catch (error) {
    if (error instanceof ConfigurationError) return undefined;
    throw error;
  }
}

/** Resources that the rules name without wildcards, in order of group, version and kind. */
function resourcesOf({ spec }: ValidatingAdmissionPolicy, registry: Registry): readonly Resource[] {
  const found = new Map<string, Resource>();
  for (const rule of spec.matchConstraints?.resourceRules ?? []) {
    for (const resource of namedResources(rule, registry)) {
      if (found.size < TYPES_MAX) found.set(kindText(resource), resource);
    }
  }
  return [...found.keys()].toSorted().flatMap((key) => found.get(key) ?? []);
}

function namedResources(rule: NamedRuleWithOperations, registry: Registry): readonly Resource[] {
  const { apiGroups = [], apiVersions = [], resources = [] } = rule;
  if ([...apiGroups, ...apiVersions].some((name) => name.includes("*"))) return [];
  const names = resources.filter((name) => !/[*/]/.test(name));
  return apiGroups
    .toSorted()
    .flatMap((group) => apiVersions.toSorted().map((version) => ({ group, version })))
    .flatMap((place) => names.toSorted().flatMap((resource) => registry.find({ ...place, resource }) ?? []));
}
