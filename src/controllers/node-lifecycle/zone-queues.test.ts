import { describe, expect, test } from "vitest";
import { ZoneQueues } from "./zone-queues.ts";

const ZONES = new Map([
  ["a", { state: "Normal", perSecond: 0.1 }],
  ["b", { state: "PartialDisruption", perSecond: 0 }],
] as const);

describe("queued nodes", () => {
  test("are due one by one at the rate of their zone", () => {
    const queues = new ZoneQueues();
    for (const name of ["one", "two", "three"]) queues.add(name, "a");

    const due = [0, 5000, 10_000, 12_000, 60_000].map((nowMs) => queues.takeDue(ZONES, nowMs));
    expect(due).toEqual([["one"], [], ["two"], [], ["three"]]);
    expect(queues.isEmpty).toBe(true);
  });

  test("wait in a zone with rate zero", () => {
    const queues = new ZoneQueues();
    queues.add("dark", "b");

    expect(queues.takeDue(ZONES, 100_000)).toEqual([]);
    expect(queues.isEmpty).toBe(false);
  });

  test("leave the queue once they are ready", () => {
    const queues = new ZoneQueues();
    queues.add("one", "a");
    queues.remove("one");

    expect(queues.takeDue(ZONES, 0)).toEqual([]);
  });
});
