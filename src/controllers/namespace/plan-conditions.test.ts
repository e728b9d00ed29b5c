import { describe, expect, test } from "vitest";
import type { ContentReport } from "./content.ts";
import { planConditions } from "./plan-conditions.ts";

const EMPTY: ContentReport = {
  undiscovered: new Map(),
  failures: [],
  errors: [],
  remaining: new Map(),
  finalizers: new Map(),
  graceSeconds: 0,
  waitSeconds: 15,
};

describe("the conditions of a namespace that is deleted", () => {
  test("are all False for an empty namespace", () => {
    expect(planConditions(undefined, EMPTY, 0).map(({ status }) => status)).toEqual(Array(5).fill("False"));
  });

  test.each<[string, Partial<ContentReport>, string]>([
    [
      "NamespaceDeletionDiscoveryFailure",
      {
        undiscovered: new Map([
          ["b.io/v1", new Error("down")],
          ["a.io/v1", new Error("gone")],
        ]),
      },
      "Discovery failed for some groups, 2 failing: unable to retrieve the complete list of server APIs: a.io/v1: gone, b.io/v1: down",
    ],
    [
      "NamespaceDeletionDiscoveryFailure",
      { undiscovered: new Map([["", new Error("no answer")]]) },
      "no answer",
    ],
    [
      "NamespaceDeletionContentFailure",
      { failures: [new Error("two"), new Error("one")] },
      "Failed to delete all resource types, 2 remaining: one, two",
    ],
    [
      "NamespaceContentRemaining",
      {
        remaining: new Map([
          ["pods.", 2],
          ["deployments.apps", 1],
        ]),
      },
      "Some resources are remaining: deployments.apps has 1 resource instances, pods. has 2 resource instances",
    ],
    [
      "NamespaceFinalizersRemaining",
      { finalizers: new Map([["example.com/a", 3]]) },
      "Some content in the namespace has finalizers remaining: example.com/a in 3 resource instances",
    ],
  ])("report the problem %s", (type, part, message) => {
    const conditions = planConditions(undefined, { ...EMPTY, ...part }, 0);

    expect(conditions.filter(({ status }) => status === "True")).toMatchObject([{ type, message }]);
  });

  test("change their time only with their status and keep other conditions", () => {
    const other = { type: "Other", status: "True" };
    const first = planConditions([other], EMPTY, 0);
    const second = planConditions(first, { ...EMPTY, remaining: new Map([["pods.", 1]]) }, 60_000);

    const times = Object.fromEntries(
      second.map(({ type, lastTransitionTime }) => [type, lastTransitionTime]),
    );
    expect(second[0]).toBe(other);
    expect(times["NamespaceContentRemaining"]).toBe("1970-01-01T00:01:00Z");
    expect(times["NamespaceFinalizersRemaining"]).toBe("1970-01-01T00:00:00Z");
  });
});
