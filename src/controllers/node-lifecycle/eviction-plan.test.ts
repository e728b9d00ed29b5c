import { describe, expect, test } from "vitest";
import type { Pod, Taint, Toleration } from "../../api/generated/types/core-v1.ts";
import { findEvictionAt } from "./eviction-plan.ts";

const SEEN = Date.parse("2026-01-01T00:01:00Z");
const TAINT: Taint = { key: "gone", effect: "NoExecute", timeAdded: "2026-01-01T00:00:00Z" };
const tolerating = (tolerationSeconds?: number): Toleration => ({
  key: "gone",
  operator: "Exists",
  ...(tolerationSeconds !== undefined && { tolerationSeconds }),
});

describe("a pod on a node that drives pods away", () => {
  test("goes at once when it does not put up with it", () => {
    expect(findEvictionAt(pod([]), [TAINT], SEEN)).toBe(SEEN);
  });

  test("stays for ever when it does without an end", () => {
    expect(findEvictionAt(pod([tolerating()]), [TAINT], SEEN)).toBeUndefined();
  });

  test("goes after the shortest time it puts up with it, counted from when the taint came", () => {
    const patient = pod([tolerating(300), { ...tolerating(60), key: "slow" }]);

    expect(findEvictionAt(patient, [TAINT, { ...TAINT, key: "slow" }], SEEN)).toBe(
      Date.parse("2026-01-01T00:01:00Z"),
    );
  });

  test("goes by the first toleration that fits, whatever others say", () => {
    expect(findEvictionAt(pod([tolerating(), tolerating(60)]), [TAINT], SEEN)).toBeUndefined();
    expect(findEvictionAt(pod([tolerating(300), tolerating(60)]), [TAINT], SEEN)).toBe(
      Date.parse("2026-01-01T00:05:00Z"),
    );
  });

  test("stays long when it puts up with it for longer than can be reckoned with", () => {
    const patience = 2n ** 63n - 1n;

    expect(findEvictionAt(pod([tolerating(patience as unknown as number)]), [TAINT], SEEN)).toBeGreaterThan(
      Number.MAX_SAFE_INTEGER,
    );
  });

  test("counts from when the taint was seen when that does not say", () => {
    const bare: Taint = { key: "gone", effect: "NoExecute" };

    expect(findEvictionAt(pod([tolerating(10)]), [bare], SEEN)).toBe(SEEN + 10_000);
  });

  test("stays where there is no such taint", () => {
    expect(findEvictionAt(pod([]), [], SEEN)).toBeUndefined();
  });
});

function pod(tolerations: readonly Toleration[]): Pod {
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: "web", uid: "1", resourceVersion: "1", creationTimestamp: "" },
    spec: { containers: [], tolerations },
    status: {},
  };
}
