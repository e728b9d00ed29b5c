import { describe, expect, test } from "vitest";
import { AssumedPods } from "./assumed-pods.ts";
import type { PodInfo } from "./snapshot/pod-info.ts";

const pod = { key: "default/a", uid: "1" } as PodInfo;

describe("assumed pods", () => {
  test("are assumed until the caches show them", () => {
    const assumed = new AssumedPods();
    assumed.add(pod);
    expect(assumed.has(pod.key, "1")).toBe(true);
    expect(assumed.has(pod.key, "2")).toBe(false);

    expect(assumed.remove(pod.key)).toBe(true);
    expect(assumed.has(pod.key, "1")).toBe(false);
  });

  test("are overdue two minutes after the server's response, and never before it", () => {
    const assumed = new AssumedPods();
    assumed.add(pod);
    expect(assumed.overdue(1e12)).toEqual([]);

    assumed.markBound(pod.key, 1000);
    expect(assumed.overdue(120_999)).toEqual([]);
    expect(assumed.overdue(121_000)).toEqual([pod]);
  });
});
