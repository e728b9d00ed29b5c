/** Compiles the expressions of a policy when the first request needs them. */
import type { MatchCondition, Variable } from "../../../api/generated/types/admissionregistration-v1.ts";
import {
  PolicyEnvironment,
  type PolicyProgram,
  type ExpressionResult,
  EXPRESSION_RESULTS,
} from "../../../resources/admission/policy-environment.ts";
import type { PolicyObject } from "./policy-index.ts";

/** A compiled expression and its source text, which messages quote. */
export interface PolicyExpression {
  readonly source: string;
  readonly compiled: PolicyProgram;
}

export interface CompiledCommons {
  readonly conditions: readonly PolicyExpression[];
  readonly variables: ReadonlyMap<string, PolicyProgram>;
}

/** Compiles match conditions and variables, which every policy has; returns the compiler for the other expressions. */
export function compileCommons(
  { spec }: PolicyObject,
  makesPatches: boolean,
): CompiledCommons & { readonly compile: (source: string, wanted: ExpressionResult) => PolicyExpression } {
  const hasParams = spec.paramKind !== undefined;
  const environment = new PolicyEnvironment({ hasParams, hasVariables: true, makesPatches });
  return {
    conditions: compileConditions(spec.matchConditions ?? [], hasParams),
    variables: compileVariables(spec.variables ?? [], environment),
    compile: (source, wanted) => ({ source, compiled: environment.compile(source, wanted) }),
  };
}

function compileConditions(
  conditions: readonly MatchCondition[],
  hasParams: boolean,
): readonly PolicyExpression[] {
  if (conditions.length === 0) return [];
  const environment = new PolicyEnvironment({ hasParams, hasVariables: false });
  return conditions.map(({ expression }) => ({
    source: expression,
    compiled: environment.compile(expression, EXPRESSION_RESULTS.condition),
  }));
}

function compileVariables(
  variables: readonly Variable[],
  environment: PolicyEnvironment,
): ReadonlyMap<string, PolicyProgram> {
  return new Map(variables.map(({ name, expression }) => [name, environment.define(name, expression)]));
}

/** Caches the result by the stored object. A write replaces the object and so invalidates the entry. */
export function compiledOnce<P extends object, C>(compile: (policy: P) => C): (policy: P) => C {
  const made = new WeakMap<P, C>();
  return (policy) => {
    const known = made.get(policy);
    if (known !== undefined) return known;
    const compiled = compile(policy);
    made.set(policy, compiled);
    return compiled;
  };
}
