/** Matches a request against a rule of a webhook. */
import type { RuleWithOperations } from "../../../api/generated/types/admissionregistration-v1.ts";
import type { Operation } from "../plugin.ts";

/** Attributes of a request that rules match. */
export interface MatchAttributes {
  readonly operation: Operation;
  readonly group: string;
  readonly version: string;
  readonly resource: string;
  /** Empty for the object itself. */
  readonly subresource: string;
  readonly namespaced: boolean;
}

export function ruleMatches(rule: RuleWithOperations, asked: MatchAttributes): boolean {
  return (
    scopeMatches(rule.scope ?? "*", asked) &&
    includes(rule.operations, asked.operation) &&
    includes(rule.apiGroups, asked.group) &&
    includes(rule.apiVersions, asked.version) &&
    (rule.resources ?? []).some((resource) => resourceMatches(resource, asked))
  );
}

function scopeMatches(scope: string, { namespaced }: MatchAttributes): boolean {
  return scope === "*" || (scope === "Namespaced") === namespaced;
}

function includes(values: readonly string[] | undefined, value: string): boolean {
  return values !== undefined && (values.includes(value) || values.includes("*"));
}

// `pods`, `pods/log`, `pods/*`, `*`, `*/scale`, `*/*`. A name without a slash matches only the object itself, not its
// subresources.
function resourceMatches(pattern: string, { resource, subresource }: MatchAttributes): boolean {
  const slash = pattern.indexOf("/");
  const name = slash < 0 ? pattern : pattern.slice(0, slash);
  const below = slash < 0 ? "" : pattern.slice(slash + 1);
  return (name === "*" || name === resource) && (below === "*" || below === subresource);
}
