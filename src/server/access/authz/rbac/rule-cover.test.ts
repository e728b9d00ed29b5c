import { describe, expect, test } from "vitest";
import type { PolicyRule } from "../../../../api/generated/types/rbac-v1.ts";
import { runToEnd } from "../../../../base/loop/yielding-work.ts";
import { compactRules, findUncovered, ruleText } from "./rule-cover.ts";

function missing(held: readonly PolicyRule[], wanted: readonly PolicyRule[]): readonly string[] {
  return compactRules(runToEnd(findUncovered(held, wanted)).parts).map(ruleText);
}

const PODS = { apiGroups: [""], resources: ["pods"], verbs: ["get", "list"] };

describe("rules cover others", () => {
  test.each<[string, readonly PolicyRule[], PolicyRule, readonly string[]]>([
    ["the same", [PODS], PODS, []],
    ["nothing covers something", [], PODS, ['{APIGroups:[""], Resources:["pods"], Verbs:["get" "list"]}']],
    [
      "part of the verbs",
      [{ ...PODS, verbs: ["get"] }],
      PODS,
      ['{APIGroups:[""], Resources:["pods"], Verbs:["list"]}'],
    ],
    [
      "by two rules together",
      [
        { ...PODS, verbs: ["get"] },
        { ...PODS, verbs: ["list"] },
      ],
      PODS,
      [],
    ],
    ["everything", [{ apiGroups: ["*"], resources: ["*"], verbs: ["*"] }], PODS, []],
    [
      "a star is not covered by all known values",
      [PODS],
      { ...PODS, verbs: ["*"] },
      ['{APIGroups:[""], Resources:["pods"], Verbs:["*"]}'],
    ],
    [
      "a subresource by its wildcard for every resource",
      [{ ...PODS, resources: ["*/scale"] }],
      { ...PODS, resources: ["pods/scale"] },
      [],
    ],
    [
      "a resource does not cover its subresources",
      [PODS],
      { ...PODS, resources: ["pods/log"], verbs: ["get"] },
      ['{APIGroups:[""], Resources:["pods/log"], Verbs:["get"]}'],
    ],
    ["one name by all", [PODS], { ...PODS, resourceNames: ["a"] }, []],
    [
      "all names not by one",
      [{ ...PODS, resourceNames: ["a"] }],
      { ...PODS, verbs: ["get"] },
      ['{APIGroups:[""], Resources:["pods"], Verbs:["get"]}'],
    ],
    [
      "another name",
      [{ ...PODS, resourceNames: ["a"] }],
      { ...PODS, verbs: ["get"], resourceNames: ["a", "b"] },
      ['{APIGroups:[""], Resources:["pods"], ResourceNames:["b"], Verbs:["get"]}'],
    ],
    [
      "a path by a longer pattern",
      [{ verbs: ["get"], nonResourceURLs: ["/api/*"] }],
      { verbs: ["get"], nonResourceURLs: ["/api/v1/*"] },
      [],
    ],
    [
      "a pattern not by a path",
      [{ verbs: ["get"], nonResourceURLs: ["/api/v1"] }],
      { verbs: ["get"], nonResourceURLs: ["/api/*"] },
      ['{NonResourceURLs:["/api/*"], Verbs:["get"]}'],
    ],
  ])("%s", (...row) => {
    const [, held, wanted, lacking] = row;

    expect(missing(held, [wanted])).toEqual(lacking);
  });
});
