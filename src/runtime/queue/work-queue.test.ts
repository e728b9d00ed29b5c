import { describe, expect, test } from "vitest";
import type { Cause } from "../../api/causes/cause.ts";
import { settableLoop } from "../../base/fixture.ts";
import { VirtualLoop } from "../../base/loop/virtual/virtual-loop.ts";
import { WorkQueue, type WorkItem, type WorkQueueOptions } from "./work-queue.ts";

const RESYNC: Cause = { type: "resync" };

function changed(name: string, resourceVersion = "1"): Cause {
  return { type: "object", group: "", kind: "Pod", namespace: "default", name, resourceVersion };
}

function queueOn(loop: VirtualLoop, options: Partial<WorkQueueOptions> = {}): WorkQueue {
  return new WorkQueue({ loop, ...options });
}

function takeAll(queue: WorkQueue): string[] {
  const keys: string[] = [];
  for (let item = queue.take(); item !== undefined; item = queue.take()) keys.push(item.key);
  return keys;
}

function mustTake(queue: WorkQueue): WorkItem {
  const item = queue.take();
  if (item === undefined) throw new Error("nothing is ready");
  return item;
}

describe("WorkQueue", () => {
  test("a key that is added twice is taken once, with both causes", () => {
    const queue = queueOn(new VirtualLoop({ seed: 1 }));
    queue.add("default/a", changed("x"));
    queue.add("default/a", changed("y"));

    const item = queue.take();

    expect(item?.causes).toEqual({ kept: [changed("x"), changed("y")], count: 2 });
    expect(queue.take()).toBeUndefined();
  });

  test("keys are taken in the order in which they were added", () => {
    const queue = queueOn(new VirtualLoop({ seed: 1 }));
    for (const key of ["c", "a", "b"]) queue.add(key, RESYNC);

    expect(takeAll(queue)).toEqual(["c", "a", "b"]);
  });

  test("a key that is added while in work is taken again after it is done, not before", () => {
    const queue = queueOn(new VirtualLoop({ seed: 1 }));
    queue.add("a", changed("x", "1"));
    mustTake(queue);
    queue.add("a", changed("x", "2"));

    expect(queue.take()).toBeUndefined();
    queue.done("a");
    expect(mustTake(queue).causes.kept).toEqual([changed("x", "2")]);
  });

  test("changes go before resyncs, and a resync that becomes a change moves up", () => {
    const queue = queueOn(new VirtualLoop({ seed: 1 }));
    queue.add("old", RESYNC, "resync");
    queue.add("moved", RESYNC, "resync");
    queue.add("new", changed("x"));
    queue.add("moved", changed("y"));

    expect(takeAll(queue)).toEqual(["new", "moved", "old"]);
  });

  test("endless changes do not starve resyncs", () => {
    const queue = queueOn(new VirtualLoop({ seed: 1 }));
    queue.add("old", RESYNC, "resync");
    for (let n = 0; n < 100; n++) queue.add(`new-${n}`, changed("x"));

    expect(takeAll(queue).indexOf("old")).toBe(15);
  });

  test("at most eight causes are kept, the newest of each object, and all are counted", () => {
    const queue = queueOn(new VirtualLoop({ seed: 1 }));
    for (let n = 0; n < 100; n++) queue.add("a", changed(`pod-${n % 10}`, String(n)));

    const { causes } = mustTake(queue);

    expect(causes.count).toBe(100);
    expect(causes.kept).toEqual([0, 1, 2, 3, 4, 5, 6, 7].map((n) => changed(`pod-${n}`, String(90 + n))));
  });

  test("the earlier of two delays of a key counts", async () => {
    const loop = new VirtualLoop({ seed: 1 });
    const queue = queueOn(loop);
    queue.addAfter("a", 1000);
    queue.addAfter("a", 200);
    queue.addAfter("a", 500);

    await loop.advance(199);
    expect(queue.depth).toBe(0);
    await loop.advance(1);

    expect(mustTake(queue).causes.kept).toEqual([{ type: "timer" }]);
    expect(queue.delayed).toBe(0);
  });

  test("taking a key cancels its delays", async () => {
    const loop = new VirtualLoop({ seed: 1 });
    const queue = queueOn(loop);
    queue.addAfter("a", 1000);
    queue.add("a", changed("x"));
    mustTake(queue);
    queue.done("a");

    await loop.advance(2000);

    expect(queue.depth).toBe(0);
  });

  test("two thousand delayed keys need one timer and keep the virtual clock busy until they are due", async () => {
    const loop = new VirtualLoop({ seed: 1 });
    const queue = queueOn(loop);
    for (let n = 0; n < 2000; n++) queue.addAfter(`key-${n}`, 2000 - n);

    await loop.settle();

    expect(loop.elapsed()).toBe(2000);
    expect(queue.depth).toBe(2000);
  });

  test("delays continue when the clock is set back", async () => {
    const world = new VirtualLoop({ seed: 1 });
    const loop = settableLoop(world);
    const queue = new WorkQueue({ loop, onReady: () => undefined });
    for (const seconds of [1, 2, 3]) queue.addAfter(`key-${String(seconds)}`, seconds * 1000);

    loop.setBack(3_600_000);
    queue.addAfter("later", 2500);
    await world.advance(3000);

    expect(Array.from({ length: 5 }, () => queue.take()?.key)).toEqual([
      "key-1",
      "key-2",
      "later",
      "key-3",
      undefined,
    ]);
  });

  test("a periodic delay does not keep the virtual clock busy", async () => {
    const loop = new VirtualLoop({ seed: 1 });
    const queue = queueOn(loop);
    queue.addAfter("a", 1000, "periodic");

    await loop.settle();
    expect(loop.elapsed()).toBe(0);
    await loop.advance(1000);

    expect(queue.depth).toBe(1);
  });

  test("a key that keeps failing backs off up to the maximum, and starts over once forgotten", () => {
    const loop = new VirtualLoop({ seed: 1 });
    const queue = queueOn(loop, { retryRate: { perSecond: 1e9, burst: 1e9 } });

    const waits = Array.from({ length: 40 }, () => queue.retry("a"));
    queue.forget("a");

    expect(waits[0]).toBeLessThanOrEqual(5);
    expect(waits[4]).toBeGreaterThan(39);
    expect(Math.max(...waits)).toBeLessThanOrEqual(300_000);
    expect(Math.min(...waits.slice(30))).toBeGreaterThanOrEqual(150_000);
    expect(queue.retry("a")).toBeLessThanOrEqual(5);
  });

  test("the rate of all retries together is limited", () => {
    const queue = queueOn(new VirtualLoop({ seed: 1 }), { retryRate: { perSecond: 10, burst: 5 } });

    const waits = Array.from({ length: 25 }, (_, n) => queue.retry(`key-${n}`));

    expect(Math.max(...waits.slice(0, 5))).toBeLessThanOrEqual(5);
    expect(waits[24]).toBeCloseTo(2000, 0);
  });

  test("the queue reports its depth, its age and the keys in work", async () => {
    const loop = new VirtualLoop({ seed: 1 });
    const queue = queueOn(loop);
    queue.add("a", RESYNC);
    queue.add("b", RESYNC);
    loop.timer(loop.now() + 50, "progress", () => {});
    await loop.settle();

    expect(queue.oldestAgeMs()).toBe(50);
    expect(mustTake(queue).waitedMs).toBe(50);
    expect([queue.depth, queue.inWork]).toEqual([1, 1]);
  });
});
