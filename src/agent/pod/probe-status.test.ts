import { describe, expect, test } from "vitest";
import { assessProbe } from "./probe-status.ts";

const PROBE = { periodSeconds: 10, successThreshold: 1, failureThreshold: 3 };

describe("the status of a probe", () => {
  test("is open before the first result", () => {
    expect(assessProbe(undefined, PROBE, 0)).toEqual({ probeStatus: "open", changesAt: undefined });
  });

  test("changes only after as many results as the threshold requires", () => {
    const failing = { result: "failure", since: 100_000, before: "passes" } as const;

    expect(assessProbe(failing, PROBE, 119_999)).toEqual({ probeStatus: "passes", changesAt: 120_000 });
    expect(assessProbe(failing, PROBE, 120_000)).toEqual({ probeStatus: "fails", changesAt: undefined });
  });

  test("is a success at once with a threshold of one", () => {
    const passing = { result: "success", since: 5000, before: "fails" } as const;

    expect(assessProbe(passing, PROBE, 5000).probeStatus).toBe("passes");
  });
});
