import { describe, expect, test } from "vitest";
import type { Pod, Taint, Toleration } from "../../api/generated/types/core-v1.ts";
import { apiInteger } from "../../api/values/plain-number.ts";
import { findEvictionAt } from "./eviction-plan.ts";

const SEEN = Date.parse("2026-01-01T00:01:00Z");
const TAINT: Taint = { key: "gone", effect: "NoExecute", timeAdded: "2026-01-01T00:00:00Z" };
const tolerating = (tolerationSeconds?: number): Toleration => ({
  key: "gone",
  operator: "Exists",
  ...(tolerationSeconds !== undefined && { tolerationSeconds }),
});

describe("a pod on a node with a NoExecute taint", () => {
  test("is evicted at once without a toleration", () => {
    expect(findEvictionAt(pod([]), [TAINT], SEEN)).toBe(SEEN);
  });

  test("stays for ever with an unlimited toleration", () => {
    expect(findEvictionAt(pod([tolerating()]), [TAINT], SEEN)).toBeUndefined();
  });

  test("is evicted after its shortest toleration, counted from the taint's timestamp", () => {
    const patient = pod([tolerating(300), { ...tolerating(60), key: "slow" }]);

    expect(findEvictionAt(patient, [TAINT, { ...TAINT, key: "slow" }], SEEN)).toBe(
      Date.parse("2026-01-01T00:01:00Z"),
    );
  });

  test("is evicted by its first matching toleration", () => {
    expect(findEvictionAt(pod([tolerating(), tolerating(60)]), [TAINT], SEEN)).toBeUndefined();
    expect(findEvictionAt(pod([tolerating(300), tolerating(60)]), [TAINT], SEEN)).toBe(
      Date.parse("2026-01-01T00:05:00Z"),
    );
  });

  test("stays with a toleration beyond the safe integers", () => {
    const patience = apiInteger(2n ** 63n - 1n);

    expect(findEvictionAt(pod([tolerating(patience)]), [TAINT], SEEN)).toBeGreaterThan(
      Number.MAX_SAFE_INTEGER,
    );
  });

  test("counts from the first sight of a taint without a timestamp", () => {
    const bare: Taint = { key: "gone", effect: "NoExecute" };

    expect(findEvictionAt(pod([tolerating(10)]), [bare], SEEN)).toBe(SEEN + 10_000);
  });

  test("stays without a NoExecute taint", () => {
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
