/**
 * Indexes the requirements of a long label selector by key. Matching looks up only the labels that the object has. A
 * selector may be as long as a request's header, and a store may hold many objects to match.
 */
import { findInteger } from "./label-requirement.ts";
import type { LabelRequirement, Labels } from "./label-requirement.ts";

/** All requirements on one key combined. */
interface KeyRule {
  /** Labels without the key do not match. */
  isNeeded: boolean;
  /** Labels with the key do not match. */
  isBarred: boolean;
  /** Undefined if any value is allowed. */
  allowed: ReadonlySet<string> | undefined;
  denied: Set<string> | undefined;
  /** The value must be an integer between both bounds, exclusive. */
  above: bigint | undefined;
  below: bigint | undefined;
}

export class LabelIndex {
  readonly #rules = new Map<string, KeyRule>();
  readonly #needed: number;

  constructor(requirements: readonly LabelRequirement[]) {
    for (const requirement of requirements) this.#add(requirement);
    this.#needed = [...this.#rules.values()].filter(({ isNeeded }) => isNeeded).length;
  }

  matches(labels: Labels): boolean {
    let met = 0;
    for (const [key, value] of Object.entries(labels)) {
      const rule = this.#rules.get(key);
      if (rule === undefined) continue;
      if (!allows(rule, value)) return false;
      if (rule.isNeeded) met += 1;
    }
    return met === this.#needed;
  }

  #add(requirement: LabelRequirement): void {
    const { key, operator } = requirement;
    const rule = this.#rules.get(key) ?? newRule();
    this.#rules.set(key, rule);
    if (operator === "!") rule.isBarred = true;
    else if (operator === "!=" || operator === "notin") deny(rule, requirement);
    else need(rule, requirement);
  }
}

function newRule(): KeyRule {
  return {
    isNeeded: false,
    isBarred: false,
    allowed: undefined,
    denied: undefined,
    above: undefined,
    below: undefined,
  };
}

function deny(rule: KeyRule, { values }: LabelRequirement): void {
  rule.denied ??= new Set();
  for (const value of values) rule.denied.add(value);
}

function need(rule: KeyRule, { operator, values }: LabelRequirement): void {
  rule.isNeeded = true;
  if (operator === "exists") return;
  if (operator === "gt" || operator === "lt") return bound(rule, operator, findInteger(values.join()));
  const { allowed } = rule;
  rule.allowed = new Set(allowed === undefined ? values : values.filter((value) => allowed.has(value)));
}

/** A bound that is not an integer matches no label. */
function bound(rule: KeyRule, operator: "gt" | "lt", limit: bigint | undefined): void {
  if (limit === undefined) rule.isBarred = true;
  else if (operator === "gt")
    rule.above = rule.above === undefined || limit > rule.above ? limit : rule.above;
  else rule.below = rule.below === undefined || limit < rule.below ? limit : rule.below;
}

function allows({ isBarred, allowed, denied, above, below }: KeyRule, value: string): boolean {
  if (isBarred || denied?.has(value) === true || allowed?.has(value) === false) return false;
  if (above === undefined && below === undefined) return true;
  const number = findInteger(value);
  if (number === undefined) return false;
  return (above === undefined || number > above) && (below === undefined || number < below);
}
