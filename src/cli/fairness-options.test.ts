import { describe, expect, test } from "vitest";
import type { Arguments } from "./command.ts";
import { parseFairness } from "./fairness-options.ts";

function args(options: Arguments["options"] = {}): Arguments {
  return { operands: {}, rest: [], options };
}

describe("parseFairness", () => {
  test("has kube-apiserver's defaults", () => {
    expect(parseFairness(args())).toEqual({ isOn: true, maxReadsInFlight: 400, maxWritesInFlight: 200 });
  });

  test("reads the switch and other limits", () => {
    const options = {
      enablePriorityAndFairness: "false",
      maxRequestsInflight: "0",
      maxMutatingRequestsInflight: "0",
    };

    expect(parseFairness(args(options))).toEqual({ isOn: false, maxReadsInFlight: 0, maxWritesInFlight: 0 });
  });

  test.each([
    [{ maxRequestsInflight: "-1" }, '--max-requests-inflight must be a whole number, found "-1"'],
    [
      { maxRequestsInflight: "0", maxMutatingRequestsInflight: "0" },
      "--max-requests-inflight and --max-mutating-requests-inflight must together be more than 0",
    ],
  ])("refuses %j", (options, message) => {
    expect(() => parseFairness(args(options))).toThrow(message);
  });
});
