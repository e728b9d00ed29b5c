/**
 * A label selector with many requirements, or with many values, by the keys that it is about. Whoever is asked looks up what the object has: a
 * selector may be as long as the head of a request, and there may be as many objects as a store holds.
 */
import { findInteger } from "./label-requirement.ts";
import type { LabelRequirement, Labels } from "./label-requirement.ts";

/** What all requirements on one key come to together. */
interface KeyRule {
  /** Labels without the key do not match. */
  isNeeded: boolean;
  /** Nor do labels with it. */
  isBarred: boolean;
  /** Undefined when all values will do. */
  allowed: ReadonlySet<string> | undefined;
  denied: Set<string> | undefined;
  /** The value is an integer between these, both left out. */
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

/** What is no number bounds nothing: no label meets it. */
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
