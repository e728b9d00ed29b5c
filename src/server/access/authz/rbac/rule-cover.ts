/** Finds the wanted rules that the held rules of a user do not cover. */
import type { PolicyRule } from "../../../../api/generated/types/rbac-v1.ts";
import { ALL, listHas, someUrlCovers } from "./rule-lists.ts";

const NONE: readonly string[] = [];

/** Bound of the parts listed in an error: more than people read. */
const FOUND_MAX = 1000;
const FOUND_CHARS_MAX = 64 * 1024;
/** Bound of single-entry comparisons, about a second together. Typical rules need some ten thousand. */
const STEPS_MAX = 10_000_000;
/** Comparisons between two yields: a few milliseconds. */
const TURN_STEPS = 50_000;
/** A comparison of a long text counts as one more for each of this many characters. */
const STEP_CHARS = 64;

export interface UncoveredRules {
  /** The uncovered rules, split into parts of one verb and one resource or URL; truncated if there are very many. */
  readonly parts: readonly PolicyRule[];
  /** False if the rules were too many to compare: unchecked parts may be uncovered too. */
  readonly isComplete: boolean;
}

/** Yields every few milliseconds, and gives up after about a second of work. */
export function findUncovered(
  held: readonly PolicyRule[],
  wanted: readonly PolicyRule[],
): Generator<undefined, UncoveredRules> {
  return new CoverSearch(held).run(wanted);
}

class CoverSearch {
  readonly #owners: readonly PolicyRule[];
  readonly #comparisons = new ComparisonCount();
  readonly #found = new FoundParts();

  constructor(held: readonly PolicyRule[]) {
    // A role bound several times is held once.
    this.#owners = [...new Set(held)];
  }

  *run(wanted: readonly PolicyRule[]): Generator<undefined, UncoveredRules> {
    for (const rule of wanted) {
      yield* this.#search(prepared(rule));
      if (this.#isOver) break;
    }
    return { parts: this.#found.parts, isComplete: !this.#comparisons.isSpent };
  }

  get #isOver(): boolean {
    return this.#comparisons.isSpent || this.#found.isFull;
  }

  *#search(rule: WantedRule): Generator<undefined, void> {
    const coversRule = (owner: PolicyRule): boolean =>
      coversPart(owner, rule, this.#comparisons) && coversPlace(owner, rule, this.#comparisons);
    if (yield* this.#isCovered(this.#owners, coversRule)) return;
    for (const place of placesOf(rule)) {
      yield* this.#searchPlace(place, rule);
      if (this.#isOver) return;
    }
  }

  *#searchPlace(place: Place, rule: WantedRule): Generator<undefined, void> {
    const owners: PolicyRule[] = [];
    for (const owner of this.#owners) {
      if (coversPlace(owner, place, this.#comparisons)) owners.push(owner);
      if (this.#comparisons.isTurnOver()) yield;
      if (this.#comparisons.isSpent) return;
    }
    if (yield* this.#isCovered(owners, (owner) => coversPart(owner, rule, this.#comparisons))) return;
    for (const part of partsAt(place, rule)) {
      const isHeld = yield* this.#isCovered(owners, (owner) => coversPart(owner, part, this.#comparisons));
      if (!isHeld && !this.#comparisons.isSpent) this.#found.add(ruleOf(place, part));
      if (this.#isOver) return;
    }
  }

  /** True if a single owner covers it; false also when the search has ended. */
  *#isCovered(
    owners: readonly PolicyRule[],
    does: (owner: PolicyRule) => boolean,
  ): Generator<undefined, boolean> {
    for (const owner of owners) {
      if (this.#comparisons.isTurnOver()) yield;
      if (this.#comparisons.isSpent) return false;
      if (does(owner)) return true;
    }
    return false;
  }
}

class ComparisonCount {
  #steps = 0;
  #turnEnd = TURN_STEPS;

  /** Counts one comparison of this text. */
  spend(value: string): void {
    this.#steps += 1 + Math.floor(value.length / STEP_CHARS);
  }

  get isSpent(): boolean {
    return this.#steps > STEPS_MAX;
  }

  /** Returns true once per turn. */
  isTurnOver(): boolean {
    if (this.#steps < this.#turnEnd) return false;
    this.#turnEnd = this.#steps + TURN_STEPS;
    return true;
  }
}

class FoundParts {
  readonly #parts: PolicyRule[] = [];
  #chars = 0;

  get parts(): readonly PolicyRule[] {
    return this.#parts;
  }

  get isFull(): boolean {
    return this.#parts.length >= FOUND_MAX || this.#chars >= FOUND_CHARS_MAX;
  }

  add(part: PolicyRule): void {
    this.#parts.push(part);
    for (const list of Object.values(part) as (readonly string[])[])
      for (const value of list) this.#chars += value.length;
  }
}

// A resource, and the wildcard for its subresource in all resources: `*/scale` for `pods/scale`.
interface WantedResource {
  readonly name: string;
  readonly ofAll: string | undefined;
}

/** A rule with duplicate entries removed. */
interface WantedRule {
  readonly verbs: readonly string[];
  readonly groups: readonly string[];
  readonly resources: readonly WantedResource[];
  readonly names: readonly string[];
  readonly urls: readonly string[];
}

function prepared(rule: PolicyRule): WantedRule {
  return {
    verbs: distinct(rule.verbs),
    groups: distinct(rule.apiGroups),
    resources: distinct(rule.resources).map((name) => ({ name, ofAll: ofAllResources(name) })),
    names: distinct(rule.resourceNames),
    urls: distinct(rule.nonResourceURLs),
  };
}

function distinct(list: readonly string[] = NONE): readonly string[] {
  return [...new Set(list)];
}

function ofAllResources(name: string): string | undefined {
  const slash = name.indexOf("/");
  return slash < 0 ? undefined : `*${name.slice(slash)}`;
}

/** A resource of a group, or a URL: each list has at most one entry. */
type Place = Pick<WantedRule, "groups" | "resources" | "urls">;
/** A verb, with at most one name. */
type Part = Pick<WantedRule, "verbs" | "names">;

function* placesOf({ groups, resources, urls }: WantedRule): Generator<Place> {
  for (const group of groups)
    for (const resource of resources) yield { groups: [group], resources: [resource], urls: NONE };
  for (const url of urls) yield { groups: NONE, resources: [], urls: [url] };
}

/** Lazy: a rule with some hundred verbs and names has tens of thousands of parts. */
function* partsAt({ urls }: Place, { verbs, names }: WantedRule): Generator<Part> {
  const each = names.length === 0 || urls.length > 0 ? [NONE] : names.map((name) => [name]);
  for (const verb of verbs) for (const one of each) yield { verbs: [verb], names: one };
}

function ruleOf({ groups, resources, urls }: Place, { verbs, names }: Part): PolicyRule {
  if (urls.length > 0) return { nonResourceURLs: urls, verbs };
  return { apiGroups: groups, resources: resources.map(({ name }) => name), resourceNames: names, verbs };
}

function coversPlace(
  owner: PolicyRule,
  { groups, resources, urls }: Place,
  comparisons: ComparisonCount,
): boolean {
  comparisons.spend("");
  return (
    hasAll(owner.apiGroups ?? NONE, groups, comparisons) &&
    coversResources(owner.resources ?? NONE, resources, comparisons) &&
    coversUrls(owner.nonResourceURLs ?? NONE, urls, comparisons)
  );
}

/** An owner with resourceNames does not cover a part for all names. */
function coversPart(owner: PolicyRule, { verbs, names }: Part, comparisons: ComparisonCount): boolean {
  comparisons.spend("");
  if (!hasAll(owner.verbs, verbs, comparisons)) return false;
  const { resourceNames = NONE } = owner;
  if (resourceNames.length === 0) return true;
  return names.length > 0 && hasEach(resourceNames, names, comparisons);
}

function hasAll(values: readonly string[], wanted: readonly string[], comparisons: ComparisonCount): boolean {
  return listHas(values, ALL) || hasEach(values, wanted, comparisons);
}

function hasEach(
  values: readonly string[],
  wanted: readonly string[],
  comparisons: ComparisonCount,
): boolean {
  return wanted.every((value) => {
    comparisons.spend(value);
    return listHas(values, value);
  });
}

function coversResources(
  values: readonly string[],
  wanted: readonly WantedResource[],
  comparisons: ComparisonCount,
): boolean {
  if (listHas(values, ALL)) return true;
  return wanted.every(({ name, ofAll }) => {
    comparisons.spend(name);
    return listHas(values, name) || (ofAll !== undefined && listHas(values, ofAll));
  });
}

function coversUrls(
  urls: readonly string[],
  wanted: readonly string[],
  comparisons: ComparisonCount,
): boolean {
  return wanted.every((url) => {
    comparisons.spend(url);
    return someUrlCovers(urls, url);
  });
}

/** Merges parts that differ only in their verb. */
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

/** The text that kubectl shows: `{APIGroups:[""], Resources:["pods"], Verbs:["get"]}`. */
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

/** For example `["a" "b"]`. */
export function listText(values: readonly string[]): string {
  return `[${values.map((value) => JSON.stringify(value)).join(" ")}]`;
}
