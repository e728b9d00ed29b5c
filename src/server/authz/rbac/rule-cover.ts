/** Whether somebody who holds some rules holds others too, and which they lack. */
import type { PolicyRule } from "../../../api/generated/types/rbac-v1.ts";
import { coversPath } from "./rule-match.ts";

const ALL = "*";
const NONE: readonly string[] = [];

/** Parts that are told as missing: more than anybody reads. */
const FOUND_MAX = 1000;
/** Parts times rules that are looked at, which take a second; rules of people have some ten thousand. */
const STEPS_MAX = 10_000_000;

/**
 * The rules that are not covered, in parts of one verb and one thing each. Not all of them where there are very many: what nobody has looked at
 * counts as not covered.
 */
export function uncovered(held: readonly PolicyRule[], wanted: readonly PolicyRule[]): readonly PolicyRule[] {
  const found: PolicyRule[] = [];
  let stepsLeft = STEPS_MAX;
  for (const rule of wanted) {
    stepsLeft -= held.length;
    if (held.some((one) => covers(one, rule))) continue;
    for (const part of partsOf(rule)) {
      stepsLeft -= held.length + 1;
      if (stepsLeft < 0 || !held.some((one) => covers(one, part))) found.push(part);
      if (stepsLeft < 0 || found.length >= FOUND_MAX) return found;
    }
  }
  return found;
}

/** One by one: a rule of some hundred groups, resources and verbs each has millions. */
function* partsOf({
  verbs,
  apiGroups = NONE,
  resources = NONE,
  resourceNames = NONE,
  nonResourceURLs = NONE,
}: PolicyRule): Generator<PolicyRule> {
  const names = resourceNames.length === 0 ? [NONE] : resourceNames.map((name) => [name]);
  for (const [group, resource] of pairs(apiGroups, resources)) {
    const place = { apiGroups: [group], resources: [resource] };
    for (const [verb, name] of pairs(verbs, names)) yield { ...place, resourceNames: name, verbs: [verb] };
  }
  for (const [url, verb] of pairs(nonResourceURLs, verbs)) yield { nonResourceURLs: [url], verbs: [verb] };
}

function* pairs<A, B>(left: readonly A[], right: readonly B[]): Generator<readonly [A, B]> {
  for (const one of left) for (const other of right) yield [one, other];
}

function covers(owner: PolicyRule, part: PolicyRule): boolean {
  return (
    hasAll(owner.verbs, part.verbs) &&
    hasAll(owner.apiGroups ?? NONE, part.apiGroups ?? NONE) &&
    coversResources(owner.resources ?? NONE, part.resources ?? NONE) &&
    (part.nonResourceURLs ?? NONE).every((url) => coversUrl(owner.nonResourceURLs ?? NONE, url)) &&
    coversNames(owner.resourceNames ?? NONE, part.resourceNames ?? NONE)
  );
}

/** From how many questions on an index of the values is worth its making. */
const INDEXED_MIN = 16;

/** Whether a value is among these; to be asked `count` times. */
function membership(values: readonly string[], count: number): (value: string) => boolean {
  if (count < INDEXED_MIN) return (value) => values.includes(value);
  const index = new Set(values);
  return (value) => index.has(value);
}

function hasAll(values: readonly string[], wanted: readonly string[]): boolean {
  return values.includes(ALL) || wanted.every(membership(values, wanted.length));
}

function coversResources(resources: readonly string[], wanted: readonly string[]): boolean {
  if (resources.includes(ALL)) return true;
  const isAmong = membership(resources, wanted.length);
  return wanted.every((resource) => {
    const slash = resource.indexOf("/");
    return isAmong(resource) || (slash >= 0 && isAmong(`*${resource.slice(slash)}`));
  });
}

function coversUrl(urls: readonly string[], wanted: string): boolean {
  return urls.some((url) => coversPath(url, wanted));
}

/** Some names are less than all. */
function coversNames(names: readonly string[], wanted: readonly string[]): boolean {
  if (names.length === 0) return true;
  return wanted.length > 0 && wanted.every(membership(names, wanted.length));
}

/** Parts that differ in their verb alone, as one rule. */
export function compactRules(rules: readonly PolicyRule[]): readonly PolicyRule[] {
  const compact: PolicyRule[] = [];
  const byPlace = new Map<string, string[]>();
  for (const rule of rules) {
    const { verbs, ...place } = rule;
    if (rule.nonResourceURLs !== undefined) {
      compact.push(rule);
      continue;
    }
    const key = JSON.stringify(place);
    const known = byPlace.get(key);
    if (known !== undefined) {
      known.push(...verbs.filter((verb) => !known.includes(verb)));
      continue;
    }
    const own = [...verbs];
    byPlace.set(key, own);
    compact.push({ ...place, verbs: own });
  }
  return compact;
}

/** As kubectl's users know it: `{APIGroups:[""], Resources:["pods"], Verbs:["get"]}`. */
export function ruleText(rule: PolicyRule): string {
  const parts = [
    ["APIGroups", rule.apiGroups],
    ["Resources", rule.resources],
    ["NonResourceURLs", rule.nonResourceURLs],
    ["ResourceNames", rule.resourceNames],
    ["Verbs", rule.verbs],
  ] as const;
  const filled = parts.filter(([, values = NONE]) => values.length > 0);
  return `{${filled.map(([name, values = NONE]) => `${name}:${listText(values)}`).join(", ")}}`;
}

/** `["a" "b"]`. */
export function listText(values: readonly string[]): string {
  return `[${values.map((value) => JSON.stringify(value)).join(" ")}]`;
}
