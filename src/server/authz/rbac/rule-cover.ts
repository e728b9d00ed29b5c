/** Whether somebody who holds some rules holds others too, and which they lack. */
import type { PolicyRule } from "../../../api/generated/types/rbac-v1.ts";
import { coversPath } from "./rule-match.ts";

const ALL = "*";
const NONE: readonly string[] = [];

/** The rules that are not covered, in parts of one verb and one thing each. */
export function uncovered(held: readonly PolicyRule[], wanted: readonly PolicyRule[]): readonly PolicyRule[] {
  const parts = wanted.flatMap(partsOf);
  return parts.filter((part) => !held.some((rule) => covers(rule, part)));
}

function partsOf({
  verbs,
  apiGroups = NONE,
  resources = NONE,
  resourceNames = NONE,
  nonResourceURLs = NONE,
}: PolicyRule): readonly PolicyRule[] {
  const parts: PolicyRule[] = [];
  const names = resourceNames.length === 0 ? [NONE] : resourceNames.map((name) => [name]);
  for (const group of apiGroups) {
    for (const resource of resources) {
      const place = { apiGroups: [group], resources: [resource] };
      for (const verb of verbs)
        parts.push(...names.map((name) => ({ ...place, resourceNames: name, verbs: [verb] })));
    }
  }
  for (const url of nonResourceURLs)
    parts.push(...verbs.map((verb) => ({ nonResourceURLs: [url], verbs: [verb] })));
  return parts;
}

function covers(owner: PolicyRule, part: PolicyRule): boolean {
  return (
    hasAll(owner.verbs, part.verbs) &&
    hasAll(owner.apiGroups ?? NONE, part.apiGroups ?? NONE) &&
    (part.resources ?? NONE).every((resource) => coversResource(owner.resources ?? NONE, resource)) &&
    (part.nonResourceURLs ?? NONE).every((url) => coversUrl(owner.nonResourceURLs ?? NONE, url)) &&
    coversNames(owner.resourceNames ?? NONE, part.resourceNames ?? NONE)
  );
}

function hasAll(values: readonly string[], wanted: readonly string[]): boolean {
  return values.includes(ALL) || wanted.every((value) => values.includes(value));
}

function coversResource(resources: readonly string[], wanted: string): boolean {
  if (resources.includes(ALL) || resources.includes(wanted)) return true;
  const slash = wanted.indexOf("/");
  return slash >= 0 && resources.includes(`*${wanted.slice(slash)}`);
}

function coversUrl(urls: readonly string[], wanted: string): boolean {
  return urls.some((url) => coversPath(url, wanted));
}

/** Some names are less than all. */
function coversNames(names: readonly string[], wanted: readonly string[]): boolean {
  if (names.length === 0) return true;
  return wanted.length > 0 && wanted.every((name) => names.includes(name));
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
