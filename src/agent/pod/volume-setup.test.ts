import { expect, test } from "vitest";
import type { ConfigState, ConfigUse } from "./config-needs.ts";
import { nextTryAt, stepVolumes, type PendingVolume } from "./volume-setup.ts";

const USE: ConfigUse = {
  ...{ kind: "configmap", namespace: "default", name: "x" },
  ...{ isOptional: false, keys: [], madeOf: "file" },
};
const FOUND: ConfigState = { type: "found", keys: new Set(), binaryKeys: new Set() };

test("a failed volume is retried after 500 ms, doubled each time up to 2 min 2 s", () => {
  let volumes = [pending("v")] as readonly PendingVolume[];
  const waits: number[] = [];
  for (let now = 0; waits.length < 10; now = nextTryAt(volumes, now) ?? now) {
    const step = stepVolumes(volumes, () => ({ type: "missing" }), now);
    volumes = step.pending;
    waits.push((nextTryAt(volumes, now) ?? 0) - now);
    expect(step.failures).toEqual([{ volume: "v", message: 'configmap "x" not found' }]);
  }

  expect(waits).toEqual([500, 1000, 2000, 4000, 8000, 16_000, 32_000, 64_000, 122_000, 122_000]);
});

test("a volume is not retried before its time", () => {
  const later = { ...pending("v"), tryAt: 500, failures: 1 };

  expect(stepVolumes([later], () => FOUND, 499)).toEqual({ pending: [later], failures: [] });
  expect(stepVolumes([later], () => FOUND, 500)).toEqual({ pending: [], failures: [] });
});

test("a volume with unknown objects stays pending without delaying others", () => {
  const volumes = [pending("open"), pending("there")];
  let asked = 0;
  const step = stepVolumes(volumes, () => (asked++ === 0 ? undefined : FOUND), 7);

  expect(step).toEqual({ pending: [volumes[0]], failures: [] });
  expect(nextTryAt(step.pending, 7)).toBeUndefined();
});

test("each retry ignores results from before it", () => {
  const since: number[] = [];
  stepVolumes([{ ...pending("v"), tryAt: 30 }], (_, at) => (since.push(at), FOUND), 40);

  expect(since).toEqual([30]);
});

function pending(name: string): PendingVolume {
  return { name, uses: [USE], tryAt: 0, failures: 0 };
}
