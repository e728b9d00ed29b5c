import { describe, expect, test } from "vitest";
import { KindProbe } from "../rules/kind-probe.ts";
import { runtimeClass } from "./runtime-class.ts";

const probe = new KindProbe(runtimeClass);

describe("a RuntimeClass", () => {
  test.each([
    [{ handler: "runsc" }, []],
    [
      { handler: "Runsc" },
      [expect.stringMatching(/^handler: Invalid value: "Runsc": a lowercase RFC 1123 label/)],
    ],
    [{ handler: "a", overhead: { podFixed: { cpu: "100m" } } }, []],
    [
      { handler: "a", overhead: { podFixed: { cpu: "-1" } } },
      ['overhead.podFixed.limits[cpu]: Invalid value: "-1": must be greater than or equal to 0'],
    ],
  ])("has a valid handler and overhead: %#", (manifest, problems) => {
    expect(probe.problems(manifest)).toEqual(problems);
  });

  test("warns about deprecated node labels", () => {
    const scheduling = { nodeSelector: { "beta.kubernetes.io/arch": "amd64" } };

    expect(probe.warnings({ handler: "a", scheduling })).toEqual([
      'scheduling.nodeSelector: deprecated since v1.14; use "kubernetes.io/arch" instead',
    ]);
  });

  test("keeps its handler and shows it", () => {
    expect(probe.updateProblems({ handler: "b" }, { handler: "a" })).toEqual([
      'handler: Invalid value: "b": field is immutable',
    ]);
    expect(probe.cells({ handler: "a" })).toEqual(["it", "a", "2m5s"]);
  });
});
