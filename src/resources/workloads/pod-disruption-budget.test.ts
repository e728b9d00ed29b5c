import { describe, expect, test } from "vitest";
import { KindProbe, type Manifest } from "../rules/kind-probe.ts";
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

  test("never has a negative number of allowed disruptions", () => {
    expect(probe.statusProblems({ status: { disruptionsAllowed: -1 } })).toEqual([
      "status.disruptionsAllowed: Invalid value: -1: must be greater than or equal to 0",
    ]);
  });

  test("has unique conditions with a time and a reason", () => {
    const good = {
      type: "DisruptionAllowed",
      status: "True",
      reason: "SufficientPods",
      message: "",
      lastTransitionTime: "2026-01-02T03:04:05Z",
    };
    const bad = { type: "a b", status: "yes", observedGeneration: -1, reason: "no;", message: "" };

    expect(probe.statusProblems({ status: { conditions: [good] } })).toEqual([]);
    expect(probe.statusProblems({ status: { conditions: [good, { ...good, reason: "" }] } })).toEqual([
      'status.conditions[1].type: Duplicate value: "DisruptionAllowed"',
      "status.conditions[1].reason: Required value: must be set",
    ]);
    expect(probe.statusProblems({ status: { conditions: [bad] } })).toEqual([
      expect.stringMatching(/^status.conditions\[0\].type: Invalid value: "a b": name part must consist/),
      'status.conditions[0].status: Unsupported value: "yes": supported values: "False", "True", "Unknown"',
      "status.conditions[0].observedGeneration: Invalid value: -1: must be greater than or equal to zero",
      "status.conditions[0].lastTransitionTime: Required value: must be set",
      expect.stringMatching(
        /^status.conditions\[0\].reason: Invalid value: "no;": a condition reason must start/,
      ),
    ]);
    expect(
      probe.statusProblems({
        status: { conditions: [{ ...good, reason: "a".repeat(1025), message: "a".repeat(32769) }] },
      }),
    ).toEqual([
      "status.conditions[0].reason: Too long: may not be more than 1024 bytes",
      "status.conditions[0].message: Too long: may not be more than 32768 bytes",
    ]);
  });

  test("shows its allowed disruptions", () => {
    expect(probe.cells({ spec: { minAvailable: "50%" }, status: { disruptionsAllowed: 2 } })).toEqual([
      "it",
      "50%",
      "N/A",
      2,
      "2m5s",
    ]);
  });
});
