import { expect, test } from "vitest";
import type { Pod, Service } from "../../api/generated/types/core-v1.ts";
import { TriggerTimes } from "./trigger-times.ts";

const SERVICE = {
  metadata: { namespace: "default", name: "web", creationTimestamp: "2026-01-01T00:00:00Z" },
} as unknown as Service;

/** Pods by name, with the second at which they became ready. */
function pods(seconds: Readonly<Record<string, number>>): readonly Pod[] {
  return Object.entries(seconds).map(([name, second]) => {
    const lastTransitionTime = `2026-01-01T00:00:0${second}Z`;
    const status = { conditions: [{ type: "Ready", lastTransitionTime }] };
    return { metadata: { name }, status } as unknown as Pod;
  });
}

test("the first time is that of the Service", () => {
  expect(new TriggerTimes().next(SERVICE, pods({ a: 5 }))).toBe("2026-01-01T00:00:00Z");
});

test("then it is the earliest of those that are new", () => {
  const times = new TriggerTimes();
  times.next(SERVICE, pods({ a: 1 }));

  expect(times.next(SERVICE, pods({ a: 1, b: 4, c: 3 }))).toBe("2026-01-01T00:00:03Z");
  expect(times.next(SERVICE, pods({ a: 6, b: 4 }))).toBe("2026-01-01T00:00:06Z");
});

test("there is none when nothing is new, or what changed has no time", () => {
  const times = new TriggerTimes();
  times.next(SERVICE, pods({ a: 1, b: 2 }));

  expect(times.next(SERVICE, pods({ a: 1 }))).toBeUndefined();
});

test("a Service that comes again begins anew", () => {
  const times = new TriggerTimes();
  times.next(SERVICE, []);
  times.forget({ namespace: "default", name: "web" });

  expect(times.next(SERVICE, pods({ a: 5 }))).toBe("2026-01-01T00:00:00Z");
});
