import { describe, expect, test } from "vitest";
import type { NodeInfo } from "../snapshot/node-info.ts";
import { diagnosisText } from "./diagnosis.ts";
import { nodesToFind } from "./nodes-to-find.ts";
import { reject, type Rejection } from "./scheduler-plugin.ts";

function byNode(rejections: readonly Rejection[]): ReadonlyMap<NodeInfo, Rejection> {
  return new Map(rejections.map((rejection, n) => [{ name: String(n) } as NodeInfo, rejection]));
}

describe("the diagnosis of an unschedulable pod", () => {
  const cpu = reject("NodeResourcesFit", "Insufficient cpu", true);
  const taint = reject("TaintToleration", "node(s) had untolerated taint(s)", false);

  test("counts nodes by reason and sorts the counts as texts", () => {
    const rejections = [...Array<Rejection>(10).fill(cpu), taint, taint];

    const text = diagnosisText({
      nodeCount: 12,
      all: undefined,
      byNode: byNode(rejections),
      others: undefined,
    });

    expect(text).toBe("0/12 nodes are available: 10 Insufficient cpu, 2 node(s) had untolerated taint(s).");
  });

  test("counts a node once per reason", () => {
    const both: Rejection = { ...cpu, reasons: ["Insufficient cpu", "Insufficient memory"] };

    const text = diagnosisText({
      nodeCount: 1,
      all: undefined,
      byNode: byNode([both]),
      others: undefined,
    });

    expect(text).toBe("0/1 nodes are available: 1 Insufficient cpu, 1 Insufficient memory.");
  });

  test("has no count if no node was checked", () => {
    const text = diagnosisText({ nodeCount: 3, all: taint, byNode: new Map(), others: undefined });

    expect(text).toBe("0/3 nodes are available: node(s) had untolerated taint(s).");
  });
});

describe("the number of nodes to find", () => {
  test.each([
    [50, 0, 50],
    [100, 0, 100],
    [1000, 0, 420],
    [5000, 0, 500],
    [6000, 0, 300],
    [1000, 30, 300],
    [1000, 100, 1000],
  ])("among %d nodes with %d percent is %d", (nodes, percent, expected) => {
    expect(nodesToFind(nodes, percent)).toBe(expected);
  });
});
