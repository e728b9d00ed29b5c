import { describe, expect, test } from "vitest";
import type { Node, NodeSelectorRequirement, Taint, Toleration } from "../../api/generated/types/core-v1.ts";
import { incomplete } from "../../api/object-fixture.ts";
import { matchesNodeTerm, tolerates } from "./node-selection.ts";

const node = incomplete<Node>({ metadata: { name: "a", labels: { disk: "ssd", cores: "8" } } });

describe("a requirement on a node", () => {
  test.each([
    [{ key: "disk", operator: "In", values: ["ssd", "nvme"] }, true],
    [{ key: "disk", operator: "In", values: ["hdd"] }, false],
    [{ key: "none", operator: "NotIn", values: ["x"] }, true],
    [{ key: "disk", operator: "Exists" }, true],
    [{ key: "constructor", operator: "Exists" }, false],
    [{ key: "disk", operator: "DoesNotExist" }, false],
    [{ key: "cores", operator: "Gt", values: ["7"] }, true],
    [{ key: "cores", operator: "Lt", values: ["8"] }, false],
    [{ key: "disk", operator: "Gt", values: ["1"] }, false],
  ] as readonly (readonly [NodeSelectorRequirement, boolean])[])(
    "%o matches: %s",
    (requirement, expected) => {
      expect(matchesNodeTerm({ matchExpressions: [requirement] }, node)).toBe(expected);
    },
  );

  test("is necessary for a match", () => {
    expect(matchesNodeTerm({}, node)).toBe(false);
  });

  test("may select the node's name", () => {
    const matchFields = [{ key: "metadata.name", operator: "In", values: ["a"] }] as const;

    expect(matchesNodeTerm({ matchFields }, node)).toBe(true);
  });
});

describe("a toleration", () => {
  const taint: Taint = { key: "k", value: "5", effect: "NoSchedule" };

  test.each([
    [{ operator: "Exists" }, true],
    [{ key: "k", operator: "Exists" }, true],
    [{ key: "other", operator: "Exists" }, false],
    [{ key: "k", value: "5" }, true],
    [{ key: "k", operator: "Equal", value: "6" }, false],
    [{ key: "k", operator: "Exists", effect: "NoExecute" }, false],
    [{ key: "k", operator: "Gt", value: "4" }, true],
    [{ key: "k", operator: "Lt", value: "4" }, false],
  ] as readonly (readonly [Toleration, boolean])[])("%o tolerates the taint: %s", (toleration, expected) => {
    expect(tolerates(toleration, taint)).toBe(expected);
  });
});
