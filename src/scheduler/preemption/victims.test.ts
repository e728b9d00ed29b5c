import { describe, expect, test } from "vitest";
import type { PodDisruptionBudget } from "../../api/generated/types/policy-v1.ts";
import { incomplete } from "../../api/object-fixture.ts";
import type { NodeInfo } from "../snapshot/node-info.ts";
import type { PodInfo } from "../snapshot/pod-info.ts";
import { type Candidate, leastHarmful, splitByBudgets } from "./victims.ts";

function victim(priority: number, startTime = "2026-01-01T00:00:00Z"): PodInfo {
  return incomplete<PodInfo>({
    priority,
    name: "x",
    namespace: "default",
    labels: { app: "x" },
    pod: { status: { startTime } },
  });
}

function candidate(name: string, victims: readonly PodInfo[], violations = 0): Candidate {
  return { node: { name } as NodeInfo, victims, violations };
}

describe("the chosen node", () => {
  test.each([
    [
      "breaks the fewest budgets",
      [candidate("bad", [victim(1)], 1), candidate("good", [victim(9), victim(9)])],
    ],
    [
      "has the least important of the most important victims",
      [candidate("bad", [victim(9)]), candidate("good", [victim(5), victim(5), victim(5)])],
    ],
    [
      "has the smallest sum of priorities",
      [candidate("bad", [victim(9), victim(8)]), candidate("good", [victim(9), victim(1)])],
    ],
    [
      "has the fewest victims, even of negative priority",
      [candidate("bad", [victim(-5), victim(-5)]), candidate("good", [victim(-5)])],
    ],
    [
      "has the latest started victims",
      [
        candidate("bad", [victim(1, "2026-01-01T00:00:00Z")]),
        candidate("good", [victim(1, "2026-01-02T00:00:00Z")]),
      ],
    ],
  ])("%s", (_, candidates) => {
    expect(leastHarmful(candidates)?.node.name).toBe("good");
    expect(leastHarmful(candidates.toReversed())?.node.name).toBe("good");
  });
});

test("a budget allows the first pods of the list and protects the rest", () => {
  const budget = incomplete<PodDisruptionBudget>({
    metadata: { namespace: "default", name: "b" },
    spec: { selector: { matchLabels: { app: "x" } } },
    status: { disruptionsAllowed: 1 },
  });

  const { violating, free } = splitByBudgets([victim(3), victim(2), victim(1)], [budget]);

  expect(free.map(({ priority }) => priority)).toEqual([3]);
  expect(violating.map(({ priority }) => priority)).toEqual([2, 1]);
});

test("no budget protects a pod without labels", () => {
  const budget = incomplete<PodDisruptionBudget>({
    metadata: { namespace: "default", name: "b" },
    spec: { selector: { matchExpressions: [{ key: "app", operator: "DoesNotExist" }] } },
    status: { disruptionsAllowed: 0 },
  });
  const unlabelled = { ...victim(1), labels: undefined };
  const labelled = { ...victim(2), labels: { tier: "x" } };

  const { violating, free } = splitByBudgets([labelled, unlabelled], [budget]);

  expect(violating).toEqual([labelled]);
  expect(free).toEqual([unlabelled]);
});
