import { describe, expect, test } from "vitest";
import type { Node, NodeCondition, Taint } from "../../api/generated/types/core-v1.ts";
import { findTaintChange } from "./node-taints.ts";

const TIME = "2026-01-01T00:00:00Z";
const MINE: Taint = { key: "mine", effect: "NoSchedule" };

describe("the taints of a node", () => {
  test("follow its conditions and keep other writers' taints", () => {
    const broken = node(
      [MINE],
      [
        { type: "Ready", status: "Unknown" },
        { type: "DiskPressure", status: "True" },
      ],
    );

    expect(findTaintChange(broken, { evicts: false, time: TIME })).toEqual([
      MINE,
      { key: "node.kubernetes.io/unreachable", effect: "NoSchedule", timeAdded: TIME },
      { key: "node.kubernetes.io/disk-pressure", effect: "NoSchedule", timeAdded: TIME },
    ]);
  });

  test("evict pods only if allowed", () => {
    const broken = node([], [{ type: "Ready", status: "False" }]);
    const taints = findTaintChange(broken, { evicts: true, time: TIME }) ?? [];

    expect(taints.map(({ key, effect }) => `${key}:${effect}`)).toEqual([
      "node.kubernetes.io/not-ready:NoSchedule",
      "node.kubernetes.io/not-ready:NoExecute",
    ]);
  });

  test("disappear once the node is ready again", () => {
    const healed = node(
      [
        { key: "node.kubernetes.io/unreachable", effect: "NoSchedule" },
        { key: "node.kubernetes.io/unreachable", effect: "NoExecute" },
        MINE,
      ],
      [{ type: "Ready", status: "True" }],
    );

    expect(findTaintChange(healed, { evicts: true, time: TIME })).toEqual([MINE]);
  });

  test("are not written if unchanged", () => {
    const known = node(
      [{ key: "node.kubernetes.io/unschedulable", effect: "NoSchedule", timeAdded: "2020-01-01T00:00:00Z" }],
      [{ type: "Ready", status: "True" }],
      true,
    );

    expect(findTaintChange(known, { evicts: false, time: TIME })).toBeUndefined();
  });
});

function node(taints: readonly Taint[], conditions: readonly NodeCondition[], unschedulable = false): Node {
  return {
    apiVersion: "v1",
    kind: "Node",
    metadata: { name: "node", uid: "1", resourceVersion: "1", creationTimestamp: "" },
    spec: { taints, unschedulable },
    status: { conditions } as Node["status"],
  };
}
