import { describe, expect, test } from "vitest";
import { KindProbe, type Manifest } from "./kind-probe.ts";
import { podDisruptionBudget } from "./pod-disruption-budget.ts";

const probe = new KindProbe(podDisruptionBudget);

describe("a PodDisruptionBudget", () => {
  test.each<[Manifest, readonly string[]]>([
    [{ minAvailable: 1 }, []],
    [{ maxUnavailable: "50%" }, []],
    [
      { minAvailable: 1, maxUnavailable: 1 },
      [
        'spec: Invalid value: {"maxUnavailable":1,"minAvailable":1}: minAvailable and maxUnavailable cannot be both set',
      ],
    ],
    [{ minAvailable: -1 }, ["spec.minAvailable: Invalid value: -1: must be greater than or equal to 0"]],
    [{ minAvailable: "101%" }, ['spec.minAvailable: Invalid value: "101%": must not be greater than 100%']],
    [
      { unhealthyPodEvictionPolicy: "Ask" },
      [
        'spec.unhealthyPodEvictionPolicy: Unsupported value: "Ask": supported values: "AlwaysAllow", "IfHealthyBudget"',
      ],
    ],
  ])("with %o", (spec, problems) => {
    expect(probe.problems({ spec })).toEqual(problems);
  });

  test("does not allow a negative number of disruptions", () => {
    expect(probe.statusProblems({ status: { disruptionsAllowed: -1 } })).toEqual([
      "status.disruptionsAllowed: Invalid value: -1: must be greater than or equal to 0",
    ]);
  });

  test("is shown with what it allows", () => {
    expect(probe.cells({ spec: { minAvailable: "50%" }, status: { disruptionsAllowed: 2 } })).toEqual([
      "it",
      "50%",
      "N/A",
      2,
      "2m5s",
    ]);
  });
});
