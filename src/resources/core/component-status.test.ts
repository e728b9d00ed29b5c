import { describe, expect, test } from "vitest";
import { KindProbe } from "../rules/kind-probe.ts";
import { componentStatus } from "./component-status.ts";

const probe = new KindProbe(componentStatus);

describe("a ComponentStatus", () => {
  test.each([
    [[], ["it", "Unknown", "", ""]],
    [[{ type: "Healthy", status: "True", message: "ok" }], ["it", "Healthy", "ok", ""]],
    [
      [{ type: "Healthy", status: "False", message: "away", error: "refused" }],
      ["it", "Unhealthy", "away", "refused"],
    ],
  ])("shows its health, message and error: %#", (conditions, cells) => {
    expect(probe.cells({ conditions })).toEqual(cells);
  });
});
