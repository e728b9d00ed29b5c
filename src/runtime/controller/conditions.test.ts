import { describe, expect, test } from "vitest";
import type { DeploymentCondition } from "../../api/generated/types/apps-v1.ts";
import { findCondition, isTrue, withCondition } from "./conditions.ts";

const FIRST = Date.UTC(2026, 0, 1);
const LATER = FIRST + 60_000;

describe("withCondition", () => {
  test("a boolean is a status", () => {
    const condition = { type: "Ready", status: false, reason: "Waiting" };

    expect(withCondition([], condition, { now: FIRST })[0]?.status).toBe("False");
  });

  test("a new condition starts at the given time and comes last", () => {
    const one = withCondition(undefined, { type: "Ready", status: "True", reason: "Up" }, { now: FIRST });
    const two = withCondition(one, { type: "Synced", status: "False", reason: "Down" }, { now: LATER });

    expect(two.map(({ type, lastTransitionTime }) => [type, lastTransitionTime])).toEqual([
      ["Ready", "2026-01-01T00:00:00Z"],
      ["Synced", "2026-01-01T00:01:00Z"],
    ]);
  });

  test("the transition time stays when only reason, message or generation change", () => {
    const one = withCondition([], { type: "Ready", status: "True", reason: "Up" }, { now: FIRST });

    const two = withCondition(
      one,
      { type: "Ready", status: "True", reason: "Fine", message: "all is well" },
      { now: LATER, observedGeneration: 2 },
    );

    expect(two).toEqual([
      {
        type: "Ready",
        status: "True",
        reason: "Fine",
        message: "all is well",
        observedGeneration: 2,
        lastTransitionTime: "2026-01-01T00:00:00Z",
      },
    ]);
  });

  test("the transition time moves with the status, and the position in the list stays", () => {
    const ready = withCondition([], { type: "Ready", status: "True", reason: "Up" }, { now: FIRST });
    const both = withCondition(ready, { type: "Synced", status: "True", reason: "Up" }, { now: FIRST });

    const moved = withCondition(both, { type: "Ready", status: "False", reason: "Gone" }, { now: LATER });

    expect(moved.map(({ type }) => type)).toEqual(["Ready", "Synced"]);
    expect(findCondition(moved, "Ready")?.lastTransitionTime).toBe("2026-01-01T00:01:00Z");
    expect([isTrue(moved, "Ready"), isTrue(moved, "Synced"), isTrue(moved, "None")]).toEqual([
      false,
      true,
      false,
    ]);
  });

  test("a condition that changes nothing returns the same list", () => {
    const one = withCondition([], { type: "Ready", status: "True", reason: "Up" }, { now: FIRST });

    expect(withCondition(one, { type: "Ready", status: "True", reason: "Up" }, { now: LATER })).toBe(one);
  });
});

test("conditions of a Deployment, which may lack times, are read too", () => {
  const available: DeploymentCondition = { type: "Available", status: "True" };

  expect(isTrue([available], "Available")).toBe(true);
  expect(findCondition([available], "Available")).toBe(available);
});
