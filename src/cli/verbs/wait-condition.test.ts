import { describe, expect, test } from "vitest";
import { UsageError } from "../command.ts";
import { parseWaitCondition } from "./wait-condition.ts";

const POD = {
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name: "a", generation: 2 },
  status: {
    phase: "Running",
    conditions: [
      { type: "Ready", status: "True" },
      { type: "Old", status: "True", observedGeneration: 1 },
    ],
  },
};

describe("wait --for", () => {
  test.each([
    ["condition=Ready", true],
    ["condition=ready=TRUE", true],
    ["condition=Ready=false", false],
    ["condition=Old", false],
    ["condition=Missing", false],
    ["jsonpath={.status.phase}=Running", true],
    ["jsonpath={.status.phase}=Pending", false],
    ["jsonpath={.status.phase}", true],
    ["jsonpath={.status.none}", false],
    ["jsonpath=.metadata.generation=2", true],
    ['jsonpath={.status.conditions[?(@.type=="Ready")].status}=True', true],
  ])("%s is %s", (text, expected) => {
    const condition = parseWaitCondition(text);

    expect(condition.type === "state" && condition.holds(POD)).toBe(expected);
  });

  test.each(["", "ready", "condition", "jsonpath={.a["])("refuses %j", (text) => {
    expect(() => parseWaitCondition(text)).toThrow(UsageError);
  });
});
