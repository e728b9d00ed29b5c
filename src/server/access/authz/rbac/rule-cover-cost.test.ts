/**
 * Tests the cost of comparing rules by the number of turns; a turn is a bounded number of comparisons of single
 * entries.
 */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { PolicyRule } from "../../../../api/generated/types/rbac-v1.ts";
import { runToEnd } from "../../../../base/loop/yielding-work.ts";
import { findUncovered } from "./rule-cover.ts";
import type { UncoveredRules } from "./rule-cover.ts";
import { coversPath } from "./rule-lists.ts";

interface Outcome extends UncoveredRules {
  readonly turns: number;
}

function compared(held: readonly PolicyRule[], wanted: readonly PolicyRule[]): Outcome {
  const work = findUncovered(held, wanted);
  let turns = 1;
  let next = work.next();
  for (; next.done !== true; turns += 1) next = work.next();
  return { ...next.value, turns };
}

function many(count: number, prefix = "e"): readonly string[] {
  return Array.from({ length: count }, (_, at) => `${prefix}${String(at)}`);
}

const RESOURCE = { verbs: ["get"], apiGroups: [""], resources: ["pods"] };
const PATH = { verbs: ["get"], nonResourceURLs: ["/a"] };
const FIELDS = [
  ["verbs", RESOURCE],
  ["apiGroups", RESOURCE],
  ["resources", RESOURCE],
  ["resourceNames", RESOURCE],
  ["verbs", PATH],
  ["nonResourceURLs", PATH],
] as const;

describe("lists of 60,000 and 30,000 entries", () => {
  test.each(FIELDS)("are compared in a few turns: %s", (field, rule) => {
    const own = { ...rule, [field]: many(60_000) };
    const wanted = { ...rule, [field]: many(30_000) };
    const foreign = { ...rule, [field]: [...many(30_000), ...many(30_000, "foreign")] };

    expect(compared([own], [wanted])).toEqual({ parts: [], isComplete: true, turns: 1 });
    const { parts, turns } = compared([own], [foreign]);
    expect(parts).toHaveLength(1000);
    expect(turns).toBeLessThan(8);
  });

  test("are compared in a few turns: patterns of URLs", () => {
    const patterns = many(60_000, "/path/").map((url) => `${url}/*`);
    const paths = many(30_000, "/path/").map((url) => `${url}/x`);

    const { parts, turns } = compared(
      [{ verbs: ["get"], nonResourceURLs: patterns }],
      [{ verbs: ["get"], nonResourceURLs: paths }],
    );

    expect(parts).toEqual([]);
    expect(turns).toBe(1);
  });
});

/** As many turns as the whole of a comparison may take. */
const TURNS_MAX = 210;

describe("a comparison that would take too long ends as incomplete", () => {
  test("of many rules with many rules", () => {
    const held = many(15_000).map((name) => ({ ...RESOURCE, resourceNames: [name] }));
    const wanted = many(15_000).map((name) => ({ ...RESOURCE, resourceNames: [name], verbs: ["get", "x"] }));

    const { isComplete, turns } = compared(held, wanted);

    expect(isComplete).toBe(false);
    expect(turns).toBeLessThan(TURNS_MAX);
  });

  test("of rules with billions of parts", () => {
    const lists = { verbs: many(300), resources: many(300), resourceNames: many(300) };
    const held = ["a", "b"].map((group) => ({ ...lists, apiGroups: [group], resourceNames: many(299) }));

    const { parts, turns } = compared(held, [{ ...lists, apiGroups: ["a", "b"] }]);

    expect(parts.length).toBeGreaterThan(0);
    expect(turns).toBeLessThan(TURNS_MAX);
  });

  test("of many copies of one entry", () => {
    const held = Array.from({ length: 15_000 }, () => ({ ...RESOURCE, resourceNames: ["a"] }));
    const names = Array.from({ length: 30_000 }, () => "a");

    expect(compared(held, [{ ...RESOURCE, verbs: ["list"], resourceNames: names }])).toMatchObject({
      isComplete: true,
      turns: 3,
    });
  });

  test("of texts of a million letters", () => {
    const long = "x".repeat(1_000_000);
    const held = many(1000).map((name) => ({ ...RESOURCE, resourceNames: [name] }));
    const wanted = { ...RESOURCE, resources: [`${long}/scale`], verbs: many(1000) };

    const { isComplete, turns } = compared(held, [wanted]);

    expect(isComplete).toBe(false);
    expect(turns).toBeLessThan(TURNS_MAX);
  });
});

/** Upstream's definition: one held rule covers every part of a wanted rule. */
function reference(held: readonly PolicyRule[], { verbs, ...rule }: PolicyRule): boolean {
  const has = (list: readonly string[] = [], value: string): boolean =>
    list.includes("*") || list.includes(value);
  const names = rule.resourceNames?.length === 0 ? [undefined] : (rule.resourceNames ?? [undefined]);
  const isHeld = (does: (owner: PolicyRule) => boolean): boolean => held.some(does);
  const resourceParts = verbs.flatMap((verb) =>
    (rule.apiGroups ?? []).flatMap((group) =>
      (rule.resources ?? []).flatMap((resource) => names.map((name) => ({ verb, group, resource, name }))),
    ),
  );
  return (
    resourceParts.every(({ verb, group, resource, name }) =>
      isHeld((owner) => {
        const ownNames = owner.resourceNames ?? [];
        const [, below] = resource.split("/");
        const isOfAll = below !== undefined && (owner.resources ?? []).includes(`*/${below}`);
        return (
          has(owner.verbs, verb) &&
          has(owner.apiGroups, group) &&
          (has(owner.resources, resource) || isOfAll) &&
          (ownNames.length === 0 || (name !== undefined && ownNames.includes(name)))
        );
      }),
    ) &&
    (rule.nonResourceURLs ?? []).every((url) =>
      verbs.every((verb) =>
        isHeld(
          (owner) =>
            has(owner.verbs, verb) && (owner.nonResourceURLs ?? []).some((each) => coversPath(each, url)),
        ),
      ),
    )
  );
}

type ListOf = (...values: readonly string[]) => fc.Arbitrary<string[]>;

const shortList: ListOf = (...values) => fc.subarray([...values], { minLength: 1 });
/** Long lists use an index. */
const anyList: ListOf = (...values) =>
  fc
    .tuple(shortList(...values), fc.boolean())
    .map(([some, isLong]) => (isLong ? [...some, ...many(20, "other")] : some));

function rulesOf(list: ListOf): fc.Arbitrary<PolicyRule> {
  const resourceRules = fc.record({
    verbs: list("get", "list", "*"),
    apiGroups: list("", "apps", "*"),
    resources: list("pods", "pods/scale", "*/scale", "*"),
    resourceNames: fc.oneof(fc.constant([]), list("a", "b")),
  });
  const pathRules = fc.record({
    verbs: list("get", "post"),
    nonResourceURLs: list("/a", "/a/b", "/a/*", "/a*", "/b/*", "/**", "*"),
  });
  return fc.oneof(resourceRules, pathRules);
}

test("rules are covered exactly when upstream's definition says so", () => {
  fc.assert(
    fc.property(fc.array(rulesOf(anyList), { maxLength: 4 }), rulesOf(shortList), (held, wanted) => {
      const { parts, isComplete } = runToEnd(findUncovered(held, [wanted]));

      expect(isComplete).toBe(true);
      expect(parts.length === 0).toBe(reference(held, wanted));
    }),
    { seed: 20, numRuns: 500 },
  );
});
