import { describe, expect, test } from "vitest";
import { PERIOD_MS, readHistory, trimmed, withRecommendation, writeHistory } from "./scale-history.ts";
import type { ScaleHistory } from "./scale-history.ts";
import { limitSize, windowsOf } from "./scale-limits.ts";
import type { ScaleBounds } from "./scale-limits.ts";

const NOW = 10_000_000;
const PLAIN: ScaleBounds = { minReplicas: 2, maxReplicas: 20 };

function history(recommended: number, more: Partial<ScaleHistory> = {}): ScaleHistory {
  return { recommended, earlier: [], changes: [], ...more };
}

function limit(bounds: ScaleBounds, currentReplicas: number, known: ScaleHistory) {
  const { replicas, conditions } = limitSize(bounds, { currentReplicas, history: known, now: NOW });
  return [replicas, ...conditions.map(({ reason }) => reason)];
}

const seconds = (ago: number): number => NOW - ago * 1000;

describe("without a behavior", () => {
  test.each<[string, number, ScaleHistory, readonly (number | string)[]]>([
    ["keeps its size", 5, history(5), [5, "ReadyForNewScale", "DesiredWithinRange"]],
    ["at most doubles", 5, history(15), [10, "ReadyForNewScale", "ScaleUpLimit"]],
    ["may grow from one to four", 1, history(9), [4, "ReadyForNewScale", "ScaleUpLimit"]],
    ["stays within its upper bound", 15, history(25), [20, "ReadyForNewScale", "TooManyReplicas"]],
    ["stays within its lower bound", 5, history(1), [2, "ReadyForNewScale", "TooFewReplicas"]],
    [
      "delays a scale-down",
      9,
      history(3, { earlier: [{ replicas: 9, until: seconds(299) }] }),
      [9, "ScaleDownStabilized", "DesiredWithinRange"],
    ],
    [
      "shrinks after the stabilization window",
      9,
      history(3, { earlier: [{ replicas: 9, until: seconds(301) }] }),
      [3, "ReadyForNewScale", "DesiredWithinRange"],
    ],
  ])("a target %s", (_, ...[current, known, expected]) => {
    expect(limit(PLAIN, current, known)).toEqual(expected);
  });
});

describe("with a behavior", () => {
  const policies = [
    { type: "Pods", value: 3, periodSeconds: 60 },
    { type: "Percent", value: 100, periodSeconds: 60 },
  ];
  const bounds = (up: object, down: object = {}): ScaleBounds => ({
    ...PLAIN,
    behavior: {
      scaleUp: { selectPolicy: "Max", policies, ...up },
      scaleDown: { selectPolicy: "Max", policies, stabilizationWindowSeconds: 0, ...down },
    },
  });

  test.each<[string, ScaleBounds, readonly [number, ScaleHistory], readonly (number | string)[]]>([
    ["grows by the widest policy", bounds({}), [5, history(20)], [10, "ReadyForNewScale", "ScaleUpLimit"]],
    [
      "grows by the narrowest policy with selectPolicy Min",
      bounds({ selectPolicy: "Min" }),
      [5, history(20)],
      [8, "ReadyForNewScale", "ScaleUpLimit"],
    ],
    [
      "does not grow with selectPolicy Disabled",
      bounds({ selectPolicy: "Disabled" }),
      [5, history(20)],
      [5, "ReadyForNewScale", "ScaleUpLimit"],
    ],
    [
      "counts earlier growth within the period",
      bounds({ selectPolicy: "Min" }),
      [7, history(20, { changes: [{ at: seconds(30), by: 2 }] })],
      [8, "ReadyForNewScale", "ScaleUpLimit"],
    ],
    [
      "ignores growth before the period",
      bounds({ selectPolicy: "Min" }),
      [7, history(20, { changes: [{ at: seconds(61), by: 2 }] })],
      [10, "ReadyForNewScale", "ScaleUpLimit"],
    ],
    [
      "shrinks by the narrowest policy with selectPolicy Min",
      bounds({}, { selectPolicy: "Min" }),
      [10, history(1)],
      [7, "ReadyForNewScale", "ScaleDownLimit"],
    ],
    [
      "delays a scale-up with a stabilization window",
      bounds({ stabilizationWindowSeconds: 120 }),
      [5, history(9, { earlier: [{ replicas: 6, until: seconds(60) }] })],
      [6, "ScaleUpStabilized", "DesiredWithinRange"],
    ],
    [
      "delays a scale-down by five minutes by default",
      { ...PLAIN, behavior: { scaleDown: { policies } } },
      [9, history(3, { earlier: [{ replicas: 8, until: seconds(200) }] })],
      [8, "ScaleDownStabilized", "DesiredWithinRange"],
    ],
  ])("a target %s", (_, ...[given, [current, known], expected]) => {
    expect(limit(given, current, known)).toEqual(expected);
  });
});

describe("the history", () => {
  test("survives reading and writing unchanged", () => {
    const known = history(4, {
      earlier: [{ replicas: 9, until: seconds(60) }],
      changes: [{ at: seconds(30), by: -2 }],
    });
    expect(readHistory(writeHistory(known))).toEqual(known);
  });

  test.each(["", "[]", "{", '{"recommended":-1}', '{"recommended":1,"earlier":[[1]]}', '{"earlier":[]}'])(
    "is undefined for the annotation %j",
    (text) => {
      expect(readHistory(text)).toBeUndefined();
    },
  );

  test("starts with the current size and ends a recommendation at the last reconcile", () => {
    const first = withRecommendation(undefined, 3, { currentReplicas: 5, now: NOW });
    expect(first).toEqual(history(3, { earlier: [{ replicas: 5, until: NOW }] }));
    expect(withRecommendation(first, 3, { currentReplicas: 5, now: NOW + 1 })).toBe(first);
    expect(withRecommendation(history(3), 2, { currentReplicas: 5, now: NOW })).toEqual(
      history(2, { earlier: [{ replicas: 3, until: NOW - PERIOD_MS }] }),
    );
  });

  test("keeps only entries that can still matter", () => {
    const replicas = [9, 4, 7, 6, 8, 3];
    const earlier = replicas.map((each, at) => ({ replicas: each, until: seconds(290 - at) }));
    const known = history(5, { earlier, changes: [{ at: seconds(100), by: 1 }] });
    expect(trimmed(known, windowsOf(PLAIN), NOW)).toEqual(
      history(5, {
        earlier: [
          { replicas: 9, until: seconds(290) },
          { replicas: 8, until: seconds(286) },
        ],
      }),
    );
  });
});
