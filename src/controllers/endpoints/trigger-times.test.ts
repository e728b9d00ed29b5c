import { expect, test } from "vitest";
import type { Pod, Service } from "../../api/generated/types/core-v1.ts";
import { incomplete } from "../../api/object-fixture.ts";
import { TriggerTimes } from "./trigger-times.ts";

const SERVICE = {
  metadata: { namespace: "default", name: "web", creationTimestamp: "2026-01-01T00:00:00Z" },
} as Service;

/** Pods by name, with the second at which they became ready. */
function pods(seconds: Readonly<Record<string, number>>): readonly Pod[] {
  return Object.entries(seconds).map(([name, second]) => {
    const lastTransitionTime = `2026-01-01T00:00:0${second}Z`;
    const status = { conditions: [{ type: "Ready", lastTransitionTime }] };
    return incomplete<Pod>({ metadata: { name }, status });
  });
}

test("the first trigger time is the Service's creation time", () => {
  expect(new TriggerTimes().next(SERVICE, pods({ a: 5 }))).toBe("2026-01-01T00:00:00Z");
});

test("later trigger times are the earliest new time", () => {
  const times = new TriggerTimes();
  times.next(SERVICE, pods({ a: 1 }));

  expect(times.next(SERVICE, pods({ a: 1, b: 4, c: 3 }))).toBe("2026-01-01T00:00:03Z");
  expect(times.next(SERVICE, pods({ a: 6, b: 4 }))).toBe("2026-01-01T00:00:06Z");
});

test("the trigger time is undefined without a new time", () => {
  const times = new TriggerTimes();
  times.next(SERVICE, pods({ a: 1, b: 2 }));

  expect(times.next(SERVICE, pods({ a: 1 }))).toBeUndefined();
});

test("a recreated Service starts with its creation time", () => {
  const times = new TriggerTimes();
  times.next(SERVICE, []);
  times.forget({ namespace: "default", name: "web" });

  expect(times.next(SERVICE, pods({ a: 5 }))).toBe("2026-01-01T00:00:00Z");
});
