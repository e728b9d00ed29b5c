import { describe, expect, test } from "vitest";
import { judgeProbe } from "./probe-verdict.ts";

const PROBE = { periodSeconds: 10, successThreshold: 1, failureThreshold: 3 };

describe("the verdict of a probe", () => {
  test("is open before the first result", () => {
    expect(judgeProbe(undefined, PROBE, 0)).toEqual({ verdict: "open", changesAt: undefined });
  });

  test("changes only after as many results as the threshold requires", () => {
    const failing = { result: "failure", since: 100_000, before: "passes" } as const;

    expect(judgeProbe(failing, PROBE, 119_999)).toEqual({ verdict: "passes", changesAt: 120_000 });
    expect(judgeProbe(failing, PROBE, 120_000)).toEqual({ verdict: "fails", changesAt: undefined });
  });

  test("is a success at once with a threshold of one", () => {
    const passing = { result: "success", since: 5000, before: "fails" } as const;

    expect(judgeProbe(passing, PROBE, 5000).verdict).toBe("passes");
  });
});
