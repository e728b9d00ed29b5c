import { describe, expect, test } from "vitest";
import { KindProbe } from "../rules/kind-probe.ts";
import { lease } from "./lease.ts";

const probe = new KindProbe(lease);

describe("a Lease", () => {
  test.each([
    [{ leaseDurationSeconds: 15, leaseTransitions: 0 }, []],
    [{ leaseDurationSeconds: 0 }, ["spec.leaseDurationSeconds: Invalid value: 0: must be greater than 0"]],
    [
      { leaseTransitions: -1 },
      ["spec.leaseTransitions: Invalid value: -1: must be greater than or equal to 0"],
    ],
  ])("has valid durations and transitions: %#", (spec, problems) => {
    expect(probe.problems({ spec })).toEqual(problems);
  });

  test("has no strategy while coordinated leader election is off", () => {
    const spec = { strategy: "OldestEmulationVersion", preferredHolder: "b" };

    expect(probe.created({ spec })).toMatchObject({ spec: {} });
    expect(probe.created({ spec })).not.toHaveProperty("spec.strategy");
    expect(probe.updated({ spec }, {})).not.toHaveProperty("spec.preferredHolder");
  });

  test("shows its holder", () => {
    expect(probe.cells({ spec: { holderIdentity: "a" } })).toEqual(["it", "a", "2m5s"]);
    expect(probe.cells({})).toEqual(["it", "", "2m5s"]);
  });
});
