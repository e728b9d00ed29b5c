/** Limits the rules in a SelfSubjectRulesReview, however often a large role is bound. */
import type { PolicyRule } from "../../../api/generated/types/rbac-v1.ts";
import type { HeldRules } from "../../access/authz/authorizer.ts";

/** About the size of the largest object that a client can send. */
const CHARS_MAX = 2 * 1024 * 1024;
/** Quotes and comma around an entry in JSON. */
const ENTRY_CHARS = 3;

/** Lists each rule once, in order. Upstream's error for unresolved rules marks a truncated list. */
export function shownRules({ rules, isIncomplete, error }: HeldRules): HeldRules {
  const shown = new Set<PolicyRule>();
  let chars = 0;
  for (const rule of rules) {
    if (shown.has(rule)) continue;
    chars += charsOf(rule);
    if (chars > CHARS_MAX) {
      const cut = "more rules are held than a review shows";
      return {
        rules: [...shown],
        isIncomplete: true,
        error: error === undefined ? cut : `${error}, ${cut}`,
      };
    }
    shown.add(rule);
  }
  return { rules: [...shown], isIncomplete, error };
}

function charsOf(rule: PolicyRule): number {
  let chars = 0;
  for (const list of Object.values(rule) as (readonly string[])[])
    for (const value of list) chars += value.length + ENTRY_CHARS;
  return chars;
}
