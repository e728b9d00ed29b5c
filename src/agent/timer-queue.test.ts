import { describe, expect, test } from "vitest";
import { settableLoop } from "../base/fixture.ts";
import { VirtualLoop } from "../base/loop/virtual/virtual-loop.ts";
import { TimerQueue } from "./timer-queue.ts";

describe("a TimerQueue", () => {
  test("runs calls in order of time, and skips cancelled ones", async () => {
    const loop = new VirtualLoop({ seed: 1, name: "test" });
    const timers = new TimerQueue(loop);
    const seen: string[] = [];
    const at = (seconds: number, name: string) =>
      timers.add(loop.now() + seconds * 1000, "progress", () => seen.push(name));
    at(3, "third");
    at(1, "first");
    const cancelled = at(2, "never");
    at(2, "second");
    timers.cancel(cancelled);
    await loop.settle();

    expect(seen).toEqual(["first", "second", "third"]);
  });

  test("never runs a call whose time does not come, and runs the others", async () => {
    const loop = new VirtualLoop({ seed: 1, name: "test" });
    const timers = new TimerQueue(loop);
    const seen: string[] = [];
    timers.add(Infinity, "progress", () => seen.push("never"));
    timers.add(loop.now() + 1000, "progress", () => seen.push("soon"));
    await loop.settle();

    expect(seen).toEqual(["soon"]);
  });

  test("runs calls in order when the clock is set back", async () => {
    const world = new VirtualLoop({ seed: 1, name: "test" });
    const loop = settableLoop(world);
    const timers = new TimerQueue(loop);
    const seen: string[] = [];
    const at = (seconds: number, name: string) =>
      timers.add(loop.now() + seconds * 1000, "progress", () => seen.push(name));
    at(1, "first");
    at(2, "second");
    at(4, "fourth");
    loop.setBack(3_600_000);
    const cancelled = at(3, "never");
    at(3, "third");
    timers.cancel(cancelled);
    await world.advance(4000);

    expect(seen).toEqual(["first", "second", "third", "fourth"]);
  });

  test("releases the callback of a finished call", async () => {
    const loop = new VirtualLoop({ seed: 1, name: "test" });
    const timers = new TimerQueue(loop);
    const kept = timers.add(loop.now(), "progress", () => undefined);
    const cancelled = timers.add(loop.now(), "progress", () => undefined);
    timers.cancel(cancelled);
    await loop.settle();

    expect([kept.act, cancelled.act]).toEqual([undefined, undefined]);
  });

  test("lets the virtual loop settle after progress calls, without waiting for periodic ones", async () => {
    const loop = new VirtualLoop({ seed: 1, name: "test" });
    const timers = new TimerQueue(loop);
    const seen: string[] = [];
    const startAt = loop.now();
    timers.add(startAt + 1000, "progress", () => seen.push("done"));
    timers.add(startAt + 5000, "periodic", () => seen.push("again"));
    await loop.settle();

    expect(seen).toEqual(["done"]);
    expect(loop.now() - startAt).toBe(1000);
  });

  test("runs nothing after its end", async () => {
    const loop = new VirtualLoop({ seed: 1, name: "test" });
    const timers = new TimerQueue(loop);
    const seen: string[] = [];
    timers.add(loop.now() + 1000, "progress", () => seen.push("late"));
    timers.end();
    await loop.settle();

    expect(seen).toEqual([]);
  });
});
